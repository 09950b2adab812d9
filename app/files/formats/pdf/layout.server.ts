import { superscript } from "../math.server.ts";
import { blank, type Line, type PrintedPiece, partsOf, segmentsOf } from "./printed-line.server.ts";
import { lineOf } from "./right-to-left.server.ts";
import { cellsOfRows, rowsAmong } from "./table-rows.server.ts";

type Columns = { from: number; to: number; edge: number };

// Share of the type's size.
const gutter = 0.8;
// Lines that make a column.
const columnLines = 3;
const edgesTried = 30;
// Share of the lines that begin where a column begins, and points from one to the next.
const columnShare = 0.4;
const columnWidth = 60;
// Of columns at heights of their own: lines and spaces that each has, and the shares of them that may be level with those of the other.
const wordyLines = 6;
const spacesAtLeast = 3;
const levelAtMost = 0.4;
const sharedAtMost = 0.5;
const columnsDeep = 8;
const piecesAtMost = 500;
/** The text of a page from the places of its pieces: lines from the top, words from the left, and column after column. */
export function layoutText(pieces: PrintedPiece[]): string {
  const lines = inReadingOrder(linesOf(pieces), columnsDeep);
  const gap = usualGap(lines);
  const rows = rowsAmong(lines);
  const cellsOf = cellsOfRows(lines, rows, gap);
  const shown: string[] = [];
  let before: Line | undefined;
  // Cells of the last row, and the places of their columns: a cell may go on in the lines below.
  let row: { cells: string[]; segments: PrintedPiece[][] } | undefined;
  const endRow = () => {
    if (row) shown.push(row.cells.join(" | ").replace(/ {2,}/g, " ").trim());
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
  for (let at = 0; at < str.length; at++) widths.push((widths[at] ?? 0) + letterWidth(str[at] ?? ""));
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

/** Puts the lines of columns one column after the other, between the lines that go across all columns. */
function inReadingOrder(lines: Line[], deep: number): Line[] {
  const columns = deep > 0 ? columnsIn(lines) : undefined;
  if (!columns) return lines;
  const { from, to, edge } = columns;
  const inside = lines.slice(from, to);
  const parts = [
    lines.slice(0, from),
    inside.flatMap((line) => part(line, (piece) => piece.x0 < edge)),
    inside.flatMap((line) => part(line, (piece) => piece.x0 >= edge)),
    lines.slice(to),
  ];
  return parts.flatMap((one) => inReadingOrder(one, deep - 1));
}

function part({ pieces, y, size }: Line, isIn: (piece: PrintedPiece) => boolean): Line[] {
  const kept = pieces.filter(isIn);
  if (kept.length === 0 || kept.length === pieces.length) return kept.length > 0 ? [{ pieces, y, size }] : [];
  // The other part may stand a little higher or lower.
  const largest = kept.reduce((one, other) => (other.size > one.size ? other : one));
  return [{ pieces: kept, y: largest.y, size: largest.size }];
}

/** The longest run of lines that are two columns of prose: nothing stands in the gutter left of `edge`. */
function columnsIn(lines: Line[]): Columns | undefined {
  let best: (Columns & { count: number }) | undefined;
  for (const edge of edgesOf(lines)) {
    for (const { from, to } of runsBeside(lines, edge)) {
      const run = lines.slice(from, to);
      const left = run.flatMap((line) => part(line, (piece) => piece.x0 < edge));
      const right = run.flatMap((line) => part(line, (piece) => piece.x0 >= edge));
      const count = Math.min(left.length, right.length);
      if (count > (best?.count ?? columnLines - 1) && areBeside(left, right) && areColumnsBeside(left, right)) {
        best = { from, to, edge, count };
      }
    }
  }
  return best;
}

/** Places where several lines or parts of lines begin, but the leftmost. */
function edgesOf(lines: Line[]): number[] {
  const begins = lines.flatMap((line) => partsOf(line, gutter).flatMap(([first]) => first?.x0 ?? []));
  const byPlace = Map.groupBy(begins, (x0) => Math.floor(x0 / 2));
  return [...byPlace]
    .filter(([place, those]) => those.length + (byPlace.get(place + 1)?.length ?? 0) >= columnLines)
    .sort(([, a], [, b]) => b.length - a.length)
    .slice(0, edgesTried)
    .map(([, those]) => Math.min(...those));
}

const areColumnsBeside = (left: Line[], right: Line[]): boolean =>
  (isProse(left) && areColumns(right)) || areIndependent(left, right);

/**
 * Whether two columns of words, such as those of a CV, have lines and paragraphs at heights of their own: the rows of a table begin and end
 * together.
 */
function areIndependent(left: Line[], right: Line[]): boolean {
  if (![left, right].every(isWordy)) return false;
  const heights = new Set(left.map(({ y }) => Math.round(y)));
  const level = right.filter(({ y }) => heights.has(Math.round(y))).length;
  if (level > levelAtMost * Math.min(left.length, right.length)) return false;
  const [some, others] = [left, right].map(spacesIn).sort((a, b) => a.length - b.length);
  if (!some || !others || some.length < spacesAtLeast) return false;
  const shared = some.filter(({ from, to }) => others.some((other) => from < other.to && other.from < to)).length;
  return shared <= sharedAtMost * some.length;
}

/** Whether lines are words, if only a few on each. */
function isWordy(lines: Line[]): boolean {
  const text = lines.map(({ pieces }) => textOf(pieces)).join("");
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  return lines.length >= wordyLines && text.length >= 10 * lines.length && letters >= 0.55 * text.length;
}

/** The spaces between the paragraphs of a column. */
function spacesIn(lines: Line[]): { from: number; to: number }[] {
  const gap = usualGap(lines);
  return lines.flatMap((line, index) => {
    const above = lines[index - 1];
    return above && line.y - above.y > 1.3 * gap ? [{ from: above.y, to: line.y - line.size }] : [];
  });
}

/** Whether these lines are a column of prose, or several side by side. */
function areColumns(lines: Line[]): boolean {
  if (isProse(lines)) return true;
  const parts = lines.flatMap((line) => partsOf(line, gutter).map((pieces) => ({ ...line, pieces })));
  const begins = edgesOf(lines)
    .filter((edge) => parts.filter(({ pieces }) => isAt(edge, pieces)).length >= columnShare * lines.length)
    .sort((a, b) => a - b)
    .filter((edge, index, all) => edge - (all[index - 1] ?? Number.NEGATIVE_INFINITY) > columnWidth);
  const columns = begins.map((edge, index) =>
    parts.filter(
      ({ pieces: [first] }) => first && first.x0 >= edge - 2 && first.x0 < (begins[index + 1] ?? Infinity) - 2,
    ),
  );
  return columns.length > 1 && columns.every((column) => column.length >= columnLines && isProse(column));
}

const isAt = (edge: number, [first]: PrintedPiece[]) => first !== undefined && Math.abs(first.x0 - edge) < 4;

/** Runs of lines with nothing in the gutter; few lines far below the rest, such as a page's number, belong to none. */
function runsBeside(lines: Line[], edge: number): { from: number; to: number }[] {
  const runs: { from: number; to: number }[] = [];
  let from = 0;
  for (let to = 0; to <= lines.length; to++) {
    const line = lines[to];
    if (line && !line.pieces.some(({ x0, x1 }) => x0 < edge - 1 && x1 > edge - gutter * line.size)) continue;
    if (to - from >= columnLines) runs.push({ from, to: withoutFoot(lines, from, to) });
    from = to + 1;
  }
  return runs;
}

function withoutFoot(lines: Line[], from: number, to: number): number {
  const gap = usualGap(lines.slice(from, to));
  for (let at = to - 1; at > Math.max(from, to - 4); at--) {
    const [above, below] = [lines[at - 1], lines[at]];
    if (above && below && below.y - above.y > 2.5 * gap) return at;
  }
  return to;
}

function areBeside(left: Line[], right: Line[]): boolean {
  const [top, bottom] = [
    Math.max(left[0]?.y ?? 0, right[0]?.y ?? 0),
    Math.min(left.at(-1)?.y ?? 0, right.at(-1)?.y ?? 0),
  ];
  const heights = [left, right].map((lines) => (lines.at(-1)?.y ?? 0) - (lines[0]?.y ?? 0));
  return bottom - top >= 0.5 * Math.min(...heights);
}

/** Whether these lines fill a column with words; cells of a table don't. */
function isProse(lines: Line[]): boolean {
  const begins = lines.reduce((least, { pieces }) => Math.min(least, pieces[0]?.x0 ?? least), Number.POSITIVE_INFINITY);
  const width = lines.reduce((most, line) => Math.max(most, endOf(line)), 0) - begins;
  const filled = lines.filter((line) => endOf(line) - begins > 0.65 * width).length;
  const broken = lines.filter((line) => segmentsOf(line).length > 1).length;
  const text = lines.map(({ pieces }) => textOf(pieces)).join("");
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  return (
    filled >= 0.5 * lines.length &&
    broken <= 0.3 * lines.length &&
    text.length >= 18 * lines.length &&
    letters >= 0.6 * text.length
  );
}

const endOf = ({ pieces }: Line) => pieces.reduce((most, { x1 }) => Math.max(most, x1), 0);

function textOf(pieces: PrintedPiece[]): string {
  const shown: { str: string; dir: string }[] = [];
  let before: PrintedPiece | undefined;
  for (const piece of pieces) {
    const gap = before ? piece.x0 - before.x1 : 0;
    const isBelow = before !== undefined && gap < -0.5 * piece.size && Math.abs(piece.y - before.y) > 0.5 * piece.size;
    if (isBelow || gap > blank * Math.min(piece.size, before?.size ?? piece.size)) shown.push({ str: " ", dir: "" });
    shown.push(before && isRaised(piece, before) ? { str: superscript(piece.str), dir: piece.dir } : piece);
    before = piece;
  }
  return lineOf(shown).replace(/ {2,}/g, " ").trim();
}

/** Whether a piece is smaller than the one before it and stands higher, as exponents and numbers of notes do. */
const isRaised = (piece: PrintedPiece, before: PrintedPiece) =>
  piece.size < 0.85 * before.size && before.y - piece.y > 0.15 * before.size;

/** The median of the distances between lines. */
function usualGap(lines: Line[]): number {
  const gaps = lines.flatMap((line, index) => {
    const gap = line.y - (lines[index - 1]?.y ?? line.y);
    return gap > 0 ? [gap] : [];
  });
  return gaps.sort((a, b) => a - b)[gaps.length >> 1] ?? 12;
}
