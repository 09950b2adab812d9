type Block = { closed: string; open: string; rest: string };

/** Shows a reply in `prose` as its events come; calls `onEnd` when it has ended or can't be followed. Answers how to stop. */
export function followEvents(prose: HTMLElement, messageId: string, onEnd: () => void): () => void {
  const open = document.createElement("div");
  const rest = document.createElement("p");
  rest.className = "rest";
  const spoken = document.createElement("div");
  spoken.className = "sr-only";
  spoken.setAttribute("aria-live", "polite");
  prose.replaceChildren(open, rest);
  prose.after(spoken);
  const events = new EventSource(`/conversation/stream/${messageId}`);
  const on = <Data>(name: string, act: (data: Data) => void) =>
    events.addEventListener(name, (event) => act(JSON.parse((event as MessageEvent<string>).data)));

  on<string>("text", (text) => rest.append(text));
  on<Block>("block", (block) => {
    if (block.closed) {
      open.insertAdjacentHTML("beforebegin", block.closed);
      // Whole blocks, not tokens: a screen reader is told what can be read.
      spoken.textContent = open.previousElementSibling?.textContent ?? "";
    }
    open.innerHTML = block.open;
    rest.textContent = block.rest;
  });
  on("end", onEnd);
  on("title", () => {
    events.close();
    onEnd();
  });
  events.addEventListener("error", () => {
    // The browser reconnects by itself unless it was refused; an ended stream is refused nothing, so ask the page.
    if (events.readyState === EventSource.CLOSED) onEnd();
  });
  return () => {
    events.close();
    spoken.remove();
  };
}
