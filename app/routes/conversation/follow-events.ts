type Block = { closed: string; open: string; rest: string };

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
  const spoken = document.createElement("div");
  spoken.className = "sr-only";
  spoken.setAttribute("aria-live", "polite");
  live.replaceChildren(closed, open, rest);
  live.after(spoken);
  const events = new EventSource(`/conversation/stream/${messageId}`);
  const on = <Data>(name: string, act: (data: Data) => void) =>
    events.addEventListener(name, (event) => act(JSON.parse((event as MessageEvent<string>).data)));

  on<string>("text", (text) => rest.append(text));
  on<Block>("block", (block) => {
    if (block.closed) {
      closed.insertAdjacentHTML("beforeend", block.closed);
      // Whole blocks, not tokens: a screen reader is told what can be read.
      spoken.textContent = closed.lastElementChild?.textContent ?? "";
    }
    open.innerHTML = block.open;
    rest.textContent = block.rest;
    // A sentence goes on where the one before ended.
    const paragraph = open.lastElementChild;
    if (paragraph instanceof HTMLParagraphElement) paragraph.append(" ", rest);
    else live.append(rest);
  });
  on("end", () => {
    events.close();
    onEnd();
  });
  events.addEventListener("error", () => {
    // The browser reconnects by itself unless it was refused.
    if (events.readyState === EventSource.CLOSED) onEnd();
  });
  return () => {
    events.close();
    spoken.remove();
  };
}

/** Calls `onChange` once the title of a chat whose reply has ended is there, or surely won't come. */
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
