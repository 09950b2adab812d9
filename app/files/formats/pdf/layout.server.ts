import { inReadingOrder } from "./columns.server.ts";
import { type Line, type PrintedPiece, segmentsOf, textOf, usualGap } from "./printed-line.server.ts";
import { cellsOfRows, rowsAmong } from "./table-rows.server.ts";
import { withWrappedRows } from "./wrapped-rows.server.ts";

const piecesAtMost = 500;

/** The text of a page from the places of its pieces: lines from the top, words from the left, and column after column. */
export function layoutText(pieces: PrintedPiece[]): string {
  const lines = withWrappedRows(inReadingOrder(linesOf(pieces)));
  const gap = usualGap(lines);
  const rows = rowsAmong(lines);
  const cellsOf = cellsOfRows(lines, rows, gap);
  const shown: string[] = [];
  let before: Line | undefined;
  // Cells of the last row, and the places of their columns: a cell may go on in the lines below.
  let row: { cells: string[]; segments: PrintedPiece[][] } | undefined;
  const endRow = () => {
    if (row) shown.push(withMark(row.cells).join(" | ").replace(/ {2,}/g, " ").trim());
    row = undefined;
  };
  for (const line of lines) {
    const isFar = before !== undefined && (line.y < before.y || line.y - before.y > 1.5 * gap);
    const segments = cellsOf.get(line) ?? segmentsOf(line);
    const columns =
      row && !isFar && segments.length < row.segments.length ? columnsUnder(row.segments, line) : undefined;
    if (row && columns && !rows.has(line)) {
      for (const [index, segment] of segments.entries()) {
        const column = columns[index] ?? 0;
        row.cells[column] = `${row.cells[column]} ${textOf(segment)}`;
      }
    } else {
      const text = textOf(line.pieces);
      endRow();
      const isBroken = before !== undefined && line.y < before.y && /[\p{L},-]$/u.test(shown.at(-1) ?? "");
      if (isFar && !isBroken) shown.push("");
      if (rows.has(line)) row = { cells: segments.map(textOf), segments };
      else shown.push(text);
    }
    before = line;
  }
  endRow();
  return shown.join("\n");
}

// «1.», «2.3.», «a)», «Quinta.1.» and bullets; the dots of a line of contents.
const itemMark = /^(?:[•◦▪●–-]|\(?[\p{L}\d]{1,12}(?:\.\d{1,4}){0,5}[.)])$/u;
const leader = /\. ?\./;

/** The cells of a row; the number of an item, or of a line of contents, stands with the words behind it. */
function withMark(cells: string[]): string[] {
  const [mark = "", text = "", ...others] = cells;
  const isItem = itemMark.test(mark) && /^[\p{L}«"“¿¡(]/u.test(text);
  return isItem && (others.length === 0 || leader.test(text)) ? [`${mark} ${text}`, ...others] : cells;
}

/** Columns of a row, but the first, that the parts of a line stand under; undefined if a part stands under no column. */
function columnsUnder(segments: PrintedPiece[][], line: Line): number[] | undefined {
  const columns = segmentsOf(line).map(([first]) =>
    segments.findIndex(
      (segment, index) => index > 0 && Math.abs((segment[0]?.x0 ?? Number.NaN) - (first?.x0 ?? 0)) < 0.6 * line.size,
    ),
  );
  return columns.every((column) => column > 0) ? columns : undefined;
}

/** Pieces on lines, from the top. Raised and lowered numbers stand on the line that they belong to. */
function linesOf(pieces: PrintedPiece[]): Line[] {
  const lines: Line[] = [];
  for (const piece of pieces.toSorted((a, b) => a.y - b.y || a.x0 - b.x0)) {
    const line = lines.slice(-3).findLast((one) => isOnLine(one, piece));
    if (!line) lines.push({ pieces: [piece], y: piece.y, size: piece.size });
    else {
      line.pieces.push(piece);
      if (piece.size > line.size) [line.y, line.size] = [piece.y, piece.size];
    }
  }
  for (const line of lines) line.pieces = withoutShadows(aside(line.pieces).sort((a, b) => a.x0 - b.x0));
  return lines;
}

/** Long pieces are parted where a short one stands among their words: a raised number, an answer on a dotted line. */
function aside(pieces: PrintedPiece[]): PrintedPiece[] {
  // A line with more pieces is a drawing.
  if (pieces.length > piecesAtMost) return pieces;
  const parted: PrintedPiece[] = [];
  for (const long of pieces) {
    const within = pieces.filter(
      ({ x0, x1, str }) =>
        str.length < long.str.length && x0 > long.x0 + 1 && x1 < long.x1 + 1 && x1 - x0 < long.x1 - long.x0,
    );
    parted.push(...(within.length > 0 ? partedAt(long, within) : [long]));
  }
  return parted;
}

/** Splits a piece: for each other piece, at the blank or run of dots nearest to its middle. */
function partedAt(piece: PrintedPiece, others: PrintedPiece[]): PrintedPiece[] {
  const placeOf = placesIn(piece);
  const blanks = [...piece.str.matchAll(/\s+|[._\u2026]{3,}/g)].map(({ index, 0: { length } }) => {
    const [from, to] = [index, index + length];
    return { from, to, x0: placeOf(from), x1: placeOf(to) };
  });
  const middle = ({ x0, x1 }: { x0: number; x1: number }) => (x0 + x1) / 2;
  const nearest = (other: PrintedPiece) => {
    let best = blanks[0];
    for (const blank of blanks) {
      if (best && Math.abs(middle(blank) - middle(other)) < Math.abs(middle(best) - middle(other))) best = blank;
    }
    return best;
  };
  const at = new Set(others.map(nearest));
  const parts: PrintedPiece[] = [];
  let begun = { to: 0, x1: piece.x0 };
  for (const blank of blanks) {
    if (!at.has(blank)) continue;
    parts.push({ ...piece, str: piece.str.slice(begun.to, blank.from), x0: begun.x1, x1: blank.x0 });
    begun = blank;
  }
  parts.push({ ...piece, str: piece.str.slice(begun.to), x0: begun.x1 });
  return parts.flatMap((one, index) => (one.str.trim() ? [{ ...one, str: `${index > 0 ? " " : ""}${one.str}` }] : []));
}

/** Estimates where a character of a piece stands: fonts differ, but narrow letters are narrow in all fonts. */
function placesIn({ str, x0, x1 }: PrintedPiece): (at: number) => number {
  const widths = [0];
  for (let at = 0; at < str.length; at++) widths.push((widths[at] ?? 0) + letterWidth(str.charAt(at)));
  const whole = widths.at(-1) || 1;
  return (at) => x0 + ((x1 - x0) * (widths[at] ?? whole)) / whole;
}

function letterWidth(letter: string): number {
  if (/[ijlftrI.,:;'|!()[\]\s]/.test(letter)) return 0.3;
  if (/[mwMW@%\u2014]/.test(letter)) return 0.85;
  return /\p{Lu}/u.test(letter) ? 0.68 : 0.53;
}

function isOnLine(line: Line, { y, size }: PrintedPiece): boolean {
  const top = Math.max(line.y - 0.8 * line.size, y - 0.8 * size);
  const bottom = Math.min(line.y + 0.2 * line.size, y + 0.2 * size);
  return bottom - top >= 0.5 * Math.min(line.size, size);
}

/** Leaves out pieces that are painted a second time beside themselves, to look bold. */
const withoutShadows = (pieces: PrintedPiece[]) =>
  pieces.filter(
    (piece, index) =>
      !pieces
        .slice(Math.max(0, index - 2), index)
        .some((other) => other.str === piece.str && piece.x0 - other.x0 < 0.15 * piece.size && piece.y - other.y < 1),
  );
