/** A piece of a line of a PDF. */
type Piece = { str: string; dir: string };

// Arabic presentation forms: letters in the shape of their place in a word. NFKC turns them into letters that a search finds.
const forms = /[\ufb50-\ufdff\ufe70-\ufeff]+/g;
const saysDirection = /[\p{L}\p{N}]/u;

/**
 * A line in reading order, from its pieces from the left. PDFs keep text that is written from right to left in the order in which it
 * was painted, often letter by letter from the left: if a line has such text, its pieces are taken from the right, and numbers and
 * words of other scripts among them from the left.
 */
export function lineOf(pieces: Piece[]): string {
  if (!pieces.some(({ str, dir }) => dir === "rtl" && saysDirection.test(str)))
    return pieces.map(({ str }) => str).join("");
  const ordered: Piece[] = [];
  let other: Piece[] = [];
  for (const piece of pieces.toReversed()) {
    if (piece.dir === "rtl" || (other.length === 0 && !saysDirection.test(piece.str))) {
      ordered.push(...leftToRight(other), piece);
      other = [];
    } else other.push(piece);
  }
  return [...ordered, ...leftToRight(other)]
    .map(({ str }) => str)
    .join("")
    .replace(forms, (letters) => letters.normalize("NFKC"));
}

/** Reverses pieces that came from the right; blanks and signs after the last word stay at the end. */
function leftToRight(pieces: Piece[]): Piece[] {
  const words = pieces.findLastIndex(({ str }) => saysDirection.test(str)) + 1;
  return [...pieces.slice(0, words).toReversed(), ...pieces.slice(words)];
}
