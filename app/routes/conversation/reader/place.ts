/** How far the reader is from its end, in px: it scrolls from its end, so that a growing reply stays in sight. */
const away = (reader: HTMLElement) => Math.max(0, -reader.scrollTop);

// In px: a reader that is nearer than this to the end counts as at the end.
const near = 80;

type Place = { id: string; top: number };
const keyOf = (visit: string) => `lugar-${visit}`;

/**
 * Keeps the place of a conversation for each visit in the tab's history, and tells `tell` whether the end is in sight.
 * `visit`: the history entry's key; `isReturn`: whether this entry was visited before. Returns a function that stops.
 */
export function keepPlace(
  reader: HTMLElement,
  { visit, isReturn }: { visit: string; isReturn: boolean },
  tell: (end: "seen" | "away" | "news") => void,
): () => void {
  if (isReturn) putBack(reader, visit);
  let told: Parameters<typeof tell>[0] = "seen";
  const say = (end: typeof told) => {
    if (end !== told) tell(end);
    told = end;
  };
  const look = () => say(away(reader) < near ? "seen" : told === "news" ? "news" : "away");
  // The place is stored while somebody reads: when the visit ends, the reader is gone from the page.
  const onScroll = () => {
    look();
    keep();
  };
  const grown = new MutationObserver(() => {
    if (told !== "seen") say("news");
  });
  const keep = () => {
    const place = away(reader) < near ? undefined : placeOf(reader);
    if (place) sessionStorage.setItem(keyOf(visit), JSON.stringify(place));
    else sessionStorage.removeItem(keyOf(visit));
  };
  look();
  reader.addEventListener("scroll", onScroll, { passive: true });
  addEventListener("pagehide", keep);
  grown.observe(reader, { childList: true, characterData: true, subtree: true });
  return () => {
    reader.removeEventListener("scroll", onScroll);
    removeEventListener("pagehide", keep);
    grown.disconnect();
  };
}

/** The first turn in sight, and how far its top is from the reader's. */
function placeOf(reader: HTMLElement): Place | undefined {
  const { top } = reader.getBoundingClientRect();
  const turn = [...reader.querySelectorAll(".turn")].find((one) => one.getBoundingClientRect().bottom > top);
  return turn && { id: turn.id, top: turn.getBoundingClientRect().top - top };
}

function putBack(reader: HTMLElement, visit: string): void {
  const kept = sessionStorage.getItem(keyOf(visit));
  if (!kept) return;
  const { id, top }: Place = JSON.parse(kept);
  const turn = document.getElementById(id);
  if (!turn) return;
  // Turns out of sight get their real heights.
  reader.dataset.placed = "";
  reader.scrollTop += turn.getBoundingClientRect().top - reader.getBoundingClientRect().top - top;
}
