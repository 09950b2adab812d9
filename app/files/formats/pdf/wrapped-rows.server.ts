import { type Line, type PrintedPiece, partsOf, segmentsOf } from "./printed-line.server.ts";

// Shares of the type's size: the space between two rows of a table, and that between its columns.
const rowSpace = 0.6;
const columnSpace = 0.6;
// Columns and rows of a table; lines of a row.
const columnsAtLeast = 3;
const rowsAtLeast = 3;
const linesAtMost = 10;

type Span = { x0: number; x1: number };

/**
 * Lines of a page, with each row of a table without rules as one line, where its cells have several lines and stand in the middle of the
 * row, or the first one is wrapped. Rows are set apart by wider spaces. Other lines stay as they are.
 */
export function withWrappedRows(lines: Line[]): Line[] {
  const blocks = blocksOf(lines);
  const shown: Line[] = [];
  for (let from = 0; from < blocks.length; ) {
    let columns: Span[] = [];
    let to = from;
    for (; to < blocks.length; to++) {
      const wider = joined(columns, blocks[to] ?? []);
      if (wider.length < columnsAtLeast) break;
      columns = wider;
    }
    const isTable = to - from >= rowsAtLeast;
    for (const block of blocks.slice(from, Math.max(to, from + 1))) {
      const row = isTable ? rowOf(block, columns) : undefined;
      shown.push(...(row ? [row] : block));
    }
    from = Math.max(to, from + 1);
  }
  return shown;
}

/** Lines between wide spaces, as lists. */
function blocksOf(lines: Line[]): Line[][] {
  const blocks: Line[][] = [];
  let above: Line | undefined;
  for (const line of lines) {
    if (above && line.y >= above.y && line.y - line.size - above.y < rowSpace * line.size) blocks.at(-1)?.push(line);
    else blocks.push([line]);
    above = line;
  }
  return blocks;
}

/** The columns of a table with what some more lines take of the width, as spans with spaces between them. */
function joined(columns: Span[], lines: Line[]): Span[] {
  const parts = lines.flatMap((line) => partsOf(line, columnSpace).map(spanOf));
  const space = columnSpace * lines.reduce((most, { size }) => Math.max(most, size), 1);
  const spans: Span[] = [];
  for (const { x0, x1 } of [...columns, ...parts].sort((a, b) => a.x0 - b.x0)) {
    const last = spans.at(-1);
    if (last && x0 - last.x1 < space) last.x1 = Math.max(last.x1, x1);
    else spans.push({ x0, x1 });
  }
  return spans;
}

/** A block of lines as one row, its pieces in the order of their columns; undefined where its lines are rows of their own. */
function rowOf(block: Line[], columns: Span[]): Line | undefined {
  const [first] = block;
  if (!first || block.length < 2 || block.length > linesAtMost || !block.some(isSaid)) return undefined;
  const columnOf = ({ x0 }: Span) => columns.findLastIndex((column) => column.x0 <= x0);
  const filled = block.map((line) => new Set(partsOf(line, columnSpace).map((part) => columnOf(spanOf(part)))));
  const all = filled.reduce((some, others) => some.union(others), new Set<number>());
  const full = block.filter((_, index) => (filled[index]?.size ?? 0) > 1);
  const [line] = full;
  if (all.size < columnsAtLeast || full.length > 1 || !line || segmentsOf(line).length < columnsAtLeast)
    return undefined;
  const pieces = block.flatMap((line) => line.pieces).toSorted((a, b) => columnOf(a) - columnOf(b));
  return { pieces, y: first.y, size: first.size };
}

/** Whether a line has words: numbers alone are those of a chart. */
const isSaid = ({ pieces }: Line) => pieces.some(({ str }) => /\p{L}/u.test(str));

const spanOf = (part: PrintedPiece[]): Span => ({
  x0: part[0]?.x0 ?? 0,
  x1: part.reduce((most, { x1 }) => Math.max(most, x1), 0),
});
