/** A piece of a line of a PDF. */
type Piece = { str: string; dir: string };

// Arabic presentation forms: letters in the shape of their place in a word. NFKC turns them into letters that a search finds.
const forms = /[\ufb50-\ufdff\ufe70-\ufeff]+/g;
const saysDirection = /[\p{L}\p{N}]/u;

/**
 * A line as it is read, from its pieces from the left. PDFs have what is written from right to left in the order in which it was
 * painted, often letter by letter from the left: where a line has any of it, its pieces go from the right, and numbers and words of
 * other scripts among them from the left.
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

/** Pieces that came from the right, from the left; blanks and signs after the last word stay there. */
function leftToRight(pieces: Piece[]): Piece[] {
  const words = pieces.findLastIndex(({ str }) => saysDirection.test(str)) + 1;
  return [...pieces.slice(0, words).toReversed(), ...pieces.slice(words)];
}
