type GrowingBlock = { closed: string; open: string; rest: string };

/**
 * Shows a reply in `live` as its events come; calls `onEnd` when it has ended or can't be followed. Answers how to stop.
 */
export function followEvents(live: HTMLElement | null, messageId: string, onEnd: () => void): (() => void) | undefined {
  if (!live) return;
  const open = document.createElement("div");
  open.className = "prose";
  const closed = open.cloneNode() as HTMLElement;
  const rest = document.createElement("span");
  rest.className = "rest";
  live.replaceChildren(closed, open, rest);
  const region = document.createElement("div");
  region.className = "sr-only";
  region.setAttribute("aria-live", "polite");
  document.body.append(region);
  let said = 0;
  // A screen reader is told sentences, lines and rows as they are complete, never tokens.
  const speak = (text: string) => {
    const fresh = text.slice(said).trim();
    if (fresh) region.append(Object.assign(document.createElement("p"), { textContent: fresh }));
    said = Math.max(said, text.length);
  };
  const events = new EventSource(`/conversation/stream/${messageId}`);
  const on = <Data>(name: string, act: (data: Data) => void) =>
    events.addEventListener(name, (event) => act(JSON.parse((event as MessageEvent<string>).data)));

  on<string>("text", (text) => rest.append(text));
  on<GrowingBlock>("block", (block) => {
    closed.insertAdjacentHTML("beforeend", block.closed);
    open.innerHTML = block.open;
    speak(textOf(closed) + textOf(open));
    rest.textContent = block.rest;
    // Unrendered text after a paragraph continues it, so it is put inside of it, on the same line.
    const paragraph = open.lastElementChild;
    if (paragraph instanceof HTMLParagraphElement) paragraph.append(" ", rest);
    else live.append(rest);
  });
  const end = () => {
    events.close();
    speak(textOf(live));
    // Removing the live region at once would cut off the last announcement; 20 s are enough to read it out.
    setTimeout(() => region.remove(), 20_000);
    onEnd();
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

const textOf = ({ textContent }: HTMLElement) => textContent;

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
