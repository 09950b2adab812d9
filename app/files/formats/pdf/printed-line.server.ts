/**
 * A piece of text of a page. Lengths are in points of the page as it is shown, `y` grows downwards and is that of the baseline;
 * `size`: height of the type.
 */
export type PrintedPiece = { str: string; dir: string; x0: number; x1: number; y: number; size: number };
export type Line = { pieces: PrintedPiece[]; y: number; size: number };

// Shares of the type's size. A blank of a narrow type is a fifth; kerning stays below a tenth.
export const blank = 0.12;
const wideGap = 1.2;

/** Parts of a line with wide gaps between them. */
export const segmentsOf = (line: Line): PrintedPiece[][] => partsOf(line, wideGap);

/** Parts of a line with gaps of at least so many times the type's size between them. */
export function partsOf({ pieces, size }: Line, gap: number): PrintedPiece[][] {
  const segments: PrintedPiece[][] = [];
  for (const piece of pieces) {
    const before = segments.at(-1)?.at(-1);
    if (before && piece.x0 - before.x1 < gap * size) segments.at(-1)?.push(piece);
    else segments.push([piece]);
  }
  return segments;
}
