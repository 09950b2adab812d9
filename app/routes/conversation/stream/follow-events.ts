import { rememberSelection } from "./keep-selection.ts";

type GrowingBlock = { closed: string; open: string; rest: string };

/**
 * Shows a reply in `live` as its events come; calls `onEnd` when it has ended or can't be followed. Returns a function that stops this.
 */
export function followEvents(live: HTMLElement | null, messageId: string, onEnd: () => void): (() => void) | undefined {
  if (!live) return;
  live.replaceChildren();
  const div = () => Object.assign(document.createElement("div"), { className: "prose", dir: "auto" });
  // Places of the text: complete blocks, the open block, and text that is not rendered yet.
  let text: { closed: HTMLElement; open: HTMLElement; rest: HTMLElement } | undefined;
  const textHere = () => {
    if (!text) {
      const rest = Object.assign(document.createElement("span"), { className: "rest" });
      text = { closed: div(), open: div(), rest };
      live.append(text.closed, text.open, rest);
    }
    return text;
  };
  // Text after a thought or a call is another part; only the last part has the mark at its end.
  const endText = () => {
    if (text?.rest.textContent === "") text.rest.remove();
    text = undefined;
  };
  let thought: { fold: HTMLElement; summary: HTMLElement; words: HTMLElement } | undefined;
  const region = document.createElement("div");
  region.className = "sr-only";
  region.setAttribute("aria-live", "polite");
  document.body.append(region);
  let said = 0;
  // Calls that a screen reader has been told of: a person hears a result only by opening it.
  const spoken = new Set<string>();
  // A screen reader is told sentences, lines and rows as they are complete, never tokens.
  const speak = (text: string) => {
    const fresh = text.slice(said).trim();
    if (fresh) region.append(Object.assign(document.createElement("p"), { textContent: fresh }));
    said = Math.max(said, text.length);
  };
  const events = new EventSource(`/conversation/stream/${messageId}`);
  const on = <Data>(name: string, act: (data: Data) => void) =>
    events.addEventListener(name, (event: MessageEvent<string>) => act(JSON.parse(event.data)));

  on<string>("text", (more) => textHere().rest.append(more));
  on<GrowingBlock>("block", (block) => {
    const { closed, open, rest } = textHere();
    const select = rememberSelection(live);
    closed.insertAdjacentHTML("beforeend", block.closed);
    open.innerHTML = block.open;
    speak(textsOf(live, ".prose"));
    rest.textContent = block.rest;
    // Unrendered text continues the paragraph or the code before it, so it is put inside of it.
    const last = open.lastElementChild;
    if (last instanceof HTMLParagraphElement) last.append(" ", rest);
    else (last?.querySelector(":scope > pre > code") ?? live).append(rest);
    select(live);
  });
  on<string>("thinking", (words) => {
    endText();
    const fold = Object.assign(document.createElement("details"), { className: "reasoning now" });
    const summary = Object.assign(document.createElement("summary"), { textContent: words });
    thought = { fold, summary, words: Object.assign(div(), { className: "thinking" }) };
    fold.append(summary, thought.words);
    live.append(fold);
    region.append(Object.assign(document.createElement("p"), { textContent: words }));
  });
  on<string>("thought", (more) => thought?.words.append(more));
  on<string>("thought-end", (words) => {
    thought?.fold.classList.remove("now");
    if (thought) thought.summary.textContent = words;
  });
  on<{ n: number; html: string }>("call", ({ n, html }) => {
    let holder = live.querySelector(`:scope > [data-part="${n}"]`);
    if (!holder) {
      endText();
      holder = document.createElement("div");
      holder.setAttribute("data-part", String(n));
      live.append(holder);
    }
    const open = holder.querySelector("details")?.open;
    holder.innerHTML = html;
    const fold = holder.querySelector("details");
    if (fold && open) fold.open = true;
    const words = holder.querySelector(".call-line")?.textContent;
    if (words && !spoken.has(words)) region.append(Object.assign(document.createElement("p"), { textContent: words }));
    if (words) spoken.add(words);
  });
  const end = () => {
    events.close();
    speak(textsOf(live, ".prose, .rest"));
    // Removing the live region at once would cut off the last announcement; 20 s are enough to read it out.
    setTimeout(() => region.remove(), 20_000);
    const select = rememberSelection(live);
    onEnd();
    whenReplaced(live, () => select(document.getElementById(`m-${messageId}`)));
  };
  on("end", end);
  events.addEventListener("error", () => {
    // The browser reconnects by itself unless it was refused.
    if (events.readyState === EventSource.CLOSED) end();
  });
  return () => {
    if (events.readyState !== EventSource.CLOSED) region.remove();
    events.close();
  };
}

/** Calls `act` when React has put the finished reply in place of the growing one. */
function whenReplaced(live: HTMLElement, act: () => void): void {
  const changes = new MutationObserver(() => {
    if (live.isConnected) return;
    changes.disconnect();
    act();
  });
  changes.observe(document.body, { childList: true, subtree: true });
}

/** Element that is read out of a reply: its text, not its thoughts. */
const textsOf = (live: HTMLElement, kinds: string) =>
  Array.from(live.querySelectorAll(`:scope > :is(${kinds})`), ({ textContent }) => textContent).join("");

/** Calls `onChange` when a chat gets its title after its reply has ended, or when the stream closes without one. */
export function awaitTitle(messageId: string, onChange: () => void): void {
  const events = new EventSource(`/conversation/stream/${messageId}`);
  const settle = () => {
    events.close();
    onChange();
  };
  events.addEventListener("title", settle);
  // The server closes the stream when it has nothing more to say; a title made meanwhile is stored by then.
  events.addEventListener("error", settle);
}
