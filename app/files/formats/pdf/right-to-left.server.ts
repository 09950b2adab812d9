/** A piece of text of a PDF, and where on the page it begins. */
type Piece = { str: string; dir: string; transform: number[] };

// Arabic presentation forms: letters in the shape of their place in a word. NFKC turns them into letters that a search finds.
const forms = /[\ufb50-\ufdff\ufe70-\ufeff]+/g;
const saysDirection = /[\p{L}\p{N}]/u;

/**
 * A line as it is read. PDFs have what is written from right to left in the order in which it was painted, often letter by letter from
 * the left: where a line has any of it, its pieces go from the right, and numbers and words of other scripts among them from the left.
 */
export function lineOf(pieces: Piece[]): string {
  if (!pieces.some(({ str, dir }) => dir === "rtl" && saysDirection.test(str)))
    return pieces.map(({ str }) => str).join("");
  const fromRight = pieces.toSorted((a, b) => placeOf(b) - placeOf(a));
  const ordered: Piece[] = [];
  let other: Piece[] = [];
  for (const piece of fromRight) {
    if (piece.dir === "rtl" || !saysDirection.test(piece.str)) {
      ordered.push(...other.toReversed(), piece);
      other = [];
    } else other.push(piece);
  }
  return [...ordered, ...other.toReversed()]
    .map(({ str }) => str)
    .join("")
    .replace(forms, (letters) => letters.normalize("NFKC"));
}

const placeOf = ({ transform }: Piece) => transform[4] ?? 0;
