import { type Line, type PrintedPiece, partsOf, segmentsOf, textOf, usualGap } from "./printed-line.server.ts";

// Share of the type's size.
const gutter = 0.8;
// Lines that make a column.
const columnLines = 3;
const edgesTried = 30;
// Share of the lines that begin where a column begins, and points from one to the next.
const columnShare = 0.4;
const columnWidth = 60;
// Points from the leftmost beginning of a line to that of another column: a smaller distance is an indentation.
const leastWidth = 30;
// Of columns at heights of their own: lines and spaces that each has, and the shares of them that may be level with those of the other.
const wordyLines = 6;
const spacesAtLeast = 3;
const levelAtMost = 0.4;
const sharedAtMost = 0.5;
// Columns within columns.
const columnsDeep = 8;

/** Puts the lines of columns one column after the other, between the lines that go across all columns. */
export function inReadingOrder(lines: Line[], deep = columnsDeep): Line[] {
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

/** Lines from one to another, and the place where their right column begins. */
type Columns = { from: number; to: number; edge: number };

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
  const leftmost = leftOf(lines);
  const byPlace = Map.groupBy(begins, (x0) => Math.floor(x0 / 2));
  return [...byPlace]
    .filter(([place, those]) => those.length + (byPlace.get(place + 1)?.length ?? 0) >= columnLines)
    .sort(([, a], [, b]) => b.length - a.length)
    .slice(0, edgesTried)
    .map(([, those]) => those.reduce((least, x0) => Math.min(least, x0)) - 1)
    .filter((edge) => edge - leftmost > leastWidth);
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

/** Characters of lines, and letters among them. */
function countsOf(lines: Line[]): { length: number; letters: number } {
  const text = lines.map(({ pieces }) => textOf(pieces)).join("");
  return { length: text.length, letters: text.match(/\p{L}/gu)?.length ?? 0 };
}

/** Whether lines are words, if only a few on each. */
function isWordy(lines: Line[]): boolean {
  const { length, letters } = countsOf(lines);
  return lines.length >= wordyLines && length >= 10 * lines.length && letters >= 0.55 * length;
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
  const begins = [leftOf(lines), ...edgesOf(lines)]
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

const leftOf = (lines: Line[]) =>
  lines.reduce((least, { pieces }) => Math.min(least, pieces[0]?.x0 ?? least), Number.POSITIVE_INFINITY);

const isAt = (edge: number, [first]: PrintedPiece[]) => first !== undefined && Math.abs(first.x0 - edge) < 4;

/** Runs of lines with nothing in the gutter; few lines far below the rest, such as a page's number, belong to none. */
function runsBeside(lines: Line[], edge: number): { from: number; to: number }[] {
  const runs: { from: number; to: number }[] = [];
  let from = 0;
  for (let to = 0; to <= lines.length; to++) {
    const line = lines[to];
    if (line && !line.pieces.some(({ x0, x1 }) => x0 < edge && x1 > edge + 1 - gutter * line.size)) continue;
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
  const begins = leftOf(lines);
  const width = lines.reduce((most, line) => Math.max(most, endOf(line)), 0) - begins;
  const filled = lines.filter((line) => endOf(line) - begins > 0.65 * width).length;
  const broken = lines.filter((line) => segmentsOf(line).length > 1).length;
  const { length, letters } = countsOf(lines);
  return (
    filled >= 0.5 * lines.length &&
    broken <= 0.3 * lines.length &&
    length >= 18 * lines.length &&
    letters >= 0.6 * length
  );
}

const endOf = ({ pieces }: Line) => pieces.reduce((most, { x1 }) => Math.max(most, x1), 0);
