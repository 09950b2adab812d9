import { superscript } from "../math.server.ts";
import { lineOf } from "./right-to-left.server.ts";

/**
 * A piece of text of a page. Lengths are in points of the page as it is shown, `y` grows downwards and is that of the baseline;
 * `size`: height of the type.
 */
export type PrintedPiece = { str: string; dir: string; x0: number; x1: number; y: number; size: number };
export type Line = { pieces: PrintedPiece[]; y: number; size: number };

// Shares of the type's size. A blank of a narrow type is a fifth; kerning stays below a tenth.
export const blank = 0.12;
export const wideGap = 1.2;

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

/** Text of pieces that stand on a line. */
export function textOf(pieces: PrintedPiece[]): string {
  const shown: { str: string; dir: string }[] = [];
  let before: PrintedPiece | undefined;
  for (const piece of pieces) {
    const gap = before ? piece.x0 - before.x1 : 0;
    if ((before && isBelow(piece, before)) || gap > blank * Math.min(piece.size, before?.size ?? piece.size))
      shown.push({ str: " ", dir: "" });
    shown.push(before && isRaised(piece, before) ? { str: superscript(piece.str), dir: piece.dir } : piece);
    before = piece;
  }
  return lineOf(shown).replace(/ {2,}/g, " ").trim();
}

/** Whether a piece stands below or above the one before it, and does not go on with its word, as «101» does with «L-». */
const isBelow = (piece: PrintedPiece, before: PrintedPiece) =>
  piece.x0 - before.x1 < -0.5 * piece.size &&
  Math.abs(piece.y - before.y) > 0.5 * piece.size &&
  !(before.str.endsWith("-") && /^[\d\p{Lu}]/u.test(piece.str));

/** Whether a piece is smaller than the one before it and stands higher, as exponents and numbers of notes do. */
const isRaised = (piece: PrintedPiece, before: PrintedPiece) =>
  piece.size < 0.85 * before.size && before.y - piece.y > 0.15 * before.size;

/** The median of the distances between lines. */
export function usualGap(lines: Line[]): number {
  const gaps = lines.flatMap((line, index) => {
    const gap = line.y - (lines[index - 1]?.y ?? line.y);
    return gap > 0 ? [gap] : [];
  });
  return gaps.sort((a, b) => a - b)[gaps.length >> 1] ?? 12;
}
