/** A passage in a text: where it stands, and how often. */
export type FoundPassage = { start: number; end: number; count: number };

const equal: Record<string, string> = { "“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "\u00a0": " " };

/**
 * Finds a passage in a text: exactly, or else without regard to the kind of blanks, quotation marks and dashes, which models change as
 * they copy. Undefined if the passage is not found.
 */
export function findPassage(text: string, passage: string): FoundPassage | undefined {
  if (passage.trim() === "") return undefined;
  const exact = text.indexOf(passage);
  if (exact >= 0) return { start: exact, end: exact + passage.length, count: text.split(passage).length - 1 };
  const { plain, places } = plainOf(text);
  const wanted = plainOf(passage.trim()).plain;
  const at = plain.indexOf(wanted);
  if (at < 0) return undefined;
  const last = places[at + wanted.length - 1] ?? 0;
  return { start: places[at] ?? 0, end: last + 1, count: plain.split(wanted).length - 1 };
}

/** The text with each run of blanks as one, and typographic marks made plain; `places`: the index of each character in the original. */
function plainOf(text: string): { plain: string; places: number[] } {
  const plain: string[] = [];
  const places: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const given = text.charAt(at);
    const one = /\s/.test(given) ? " " : (equal[given] ?? given);
    if (one === " " && plain.at(-1) === " ") continue;
    plain.push(one);
    places.push(at);
  }
  return { plain: plain.join(""), places };
}
