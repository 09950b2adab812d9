import { blank, type Line, type PrintedPiece, partsOf, segmentsOf, wideGap } from "./printed-line.server.ts";

// Shares of the type's size: a gap wider than that between words, and how near to each other the cells of a column begin or end.
const widerThanBlank = 0.6;
const sameColumn = 0.3;
// Cells of a row from which on the empty cells of other rows are shown.
const cellsOfTable = 3;
// Share of a table's rows in which a column has to be set apart by wide gaps.
const rowsOfColumn = 0.3;
// A narrower gap sets a column apart that begins or ends at one place in more of the rows.
const narrowGap = 0.55;
const rowsOfNarrow = 0.6;
// Lines between two rows of a table whose cells have several lines.
const rowsApart = 8;
// Parts of a line that are compared with those of others: a table has fewer columns.
const partsAtMost = 100;

/** Lines that are rows of tables: another one near has parts at the same places. */
export function rowsAmong(lines: Line[]): Set<Line> {
  const rows = new Set<Line>();
  const parted = lines.map((line) => ({ line, edges: edgesIn(line) }));
  for (const [index, { line, edges }] of parted.entries()) {
    for (const other of edges.length > 0 ? parted.slice(index + 1, index + 1 + rowsApart) : []) {
      if (other.line.y > line.y && areAligned(edges, other.edges, 0.6 * line.size)) rows.add(line).add(other.line);
    }
  }
  return rows;
}

/** Beginnings of the columns of a table, ends of its columns of numbers, and middles of narrow ones, as places on the line. */
type Places = { lefts: number[]; rights: number[]; middles: number[] };

/**
 * The cells of each row, by the places of columns in the rows near it: cells are set apart by wide gaps in most of them, but not in all.
 * A cell without text is empty. `gap`: usual distance between lines.
 */
export function cellsOfRows(lines: Line[], rows: Set<Line>, gap: number): Map<Line, PrintedPiece[][]> {
  const found = new Map<Line, PrintedPiece[][]>();
  for (const table of tablesIn(lines, rows)) {
    const places = placesIn(table);
    let columns: Span[] = [];
    for (const block of blocksOf(table, gap)) {
      const rows = block.map((line) => partedIn(segmentsOf(line), places, line.size));
      const own = columnsOf(rows);
      // Rows below a wider space, as behind a cell of two lines, still stand under the heading of the table.
      if (own.length >= columns.length || !rows.every((row) => standUnder(columns, row))) columns = own;
      const filled = rows.map((row) => withEmptyCells(row, columns));
      for (const [index, line] of block.entries()) found.set(line, filled[index] ?? []);
    }
  }
  return found;
}

/** Rows with few other lines between them, as lists. */
function tablesIn(lines: Line[], rows: Set<Line>): Line[][] {
  const tables: Line[][] = [];
  let between = rowsApart + 1;
  for (const line of lines) {
    if (!rows.has(line)) between++;
    else if (between > rowsApart) tables.push([line]);
    else tables.at(-1)?.push(line);
    if (rows.has(line)) between = 0;
  }
  return tables;
}

/** The rows of a table between its wide spaces: the columns of each such block are its own. */
function blocksOf(table: Line[], gap: number): Line[][] {
  const blocks: Line[][] = [];
  let above: Line | undefined;
  for (const line of table) {
    if (above && line.y >= above.y && line.y - above.y <= 1.5 * gap) blocks.at(-1)?.push(line);
    else blocks.push([line]);
    above = line;
  }
  return blocks;
}

function placesIn(table: Line[]): Places {
  const size = table.reduce((most, line) => Math.max(most, line.size), 1);
  const often = (values: number[], times: number) => repeated(values, sameColumn * size, times);
  const placesOf = (gap: number, times: number) => {
    const rows = table.map((line) => partsOf(line, gap).slice(0, partsAtMost));
    const numbers = rows.flatMap((row) => row.filter((cell) => isNumber(cell.at(-1))));
    const cells = rows.flatMap((row) => row.slice(1).map(spanOf));
    return {
      lefts: often(
        cells.map(({ x0 }) => x0),
        times,
      ),
      rights: often(
        numbers.map((cell) => spanOf(cell).x1),
        times,
      ),
      middles: often(cells.map(middleOf), times),
    };
  };
  const wide = placesOf(wideGap, Math.max(2, table.length * rowsOfColumn));
  const narrow = placesOf(narrowGap, Math.max(3, table.length * rowsOfNarrow));
  return {
    lefts: [...wide.lefts, ...narrow.lefts],
    rights: [...wide.rights, ...narrow.rights],
    middles: narrow.middles,
  };
}

/** Columns of rows, as the row that has most cells has them, and one more at each side where others have a cell beyond; none for a list. */
function columnsOf(rows: PrintedPiece[][][]): Span[] {
  const most = rows.reduce<PrintedPiece[][]>((one, other) => (other.length > one.length ? other : one), []);
  if (most.length < cellsOfTable || most.length > partsAtMost) return [];
  const columns = most.map(spanOf);
  const others: PrintedPiece[][][] = [];
  for (const row of rows) {
    // As many cells may be a name and the numbers under all headings but the last.
    const isAligned = row.every((cell, index) => [-1, index].includes(firstOver(columns, spanOf(cell))));
    if (row.length === most.length && isAligned)
      for (const [index, cell] of row.entries()) widen(columns, index, spanOf(cell));
    else if (row.length > 1) others.push(row);
  }
  const [first, last] = [columns[0], columns.at(-1)];
  const left = others.map((row) => spanOf(row[0] ?? [])).filter(({ x1 }) => first && x1 < first.x0);
  const right = others.map((row) => spanOf(row.at(-1) ?? [])).filter(({ x0 }) => last && x0 > last.x1);
  return [...around(left), ...columns, ...around(right)];
}

const around = (spans: Span[]): Span[] =>
  spans.length === 0
    ? []
    : [{ x0: Math.min(...spans.map(({ x0 }) => x0)), x1: Math.max(...spans.map(({ x1 }) => x1)) }];

/** Whether each cell of a row stands under one of the columns, and under no other. */
const standUnder = (columns: Span[], row: PrintedPiece[][]): boolean =>
  row.every((cell) => columns.filter((column) => areOver(column, spanOf(cell))).length === 1);

const firstOver = (columns: Span[], cell: Span): number => columns.findIndex((column) => areOver(column, cell));

const areOver = (column: Span, { x0, x1 }: Span): boolean => column.x0 < x1 && x0 < column.x1;

/**
 * A row of a table with a cell, perhaps an empty one, for each column: a number under «Deducciones» is not one under «Devengos». A row that
 * does not fit under the columns stays as it is.
 */
function withEmptyCells(row: PrintedPiece[][], columns: Span[]): PrintedPiece[][] {
  if (columns.length === 0 || row.length >= columns.length) return row;
  const places = row.map((cell) => columnOver(columns, spanOf(cell)));
  const isFit = places.every((place, index) => place >= 0 && (index === 0 || place > (places[index - 1] ?? 0)));
  if (!isFit) return row;
  const last = places.at(-1) ?? 0;
  return columns.slice(0, last + 1).map((_, column) => row[places.indexOf(column)] ?? []);
}

type Span = { x0: number; x1: number };
const middleOf = ({ x0, x1 }: Span) => (x0 + x1) / 2;
const spanOf = (cell: PrintedPiece[]): Span => ({ x0: cell[0]?.x0 ?? 0, x1: cell.at(-1)?.x1 ?? 0 });

/** Widens a column by a cell, unless it would reach into the next one. */
function widen(columns: Span[], index: number, { x0, x1 }: Span): void {
  const column = columns[index];
  if (!column) return;
  column.x0 = Math.max(Math.min(column.x0, x0), columns[index - 1]?.x1 ?? x0);
  column.x1 = Math.min(Math.max(column.x1, x1), columns[index + 1]?.x0 ?? x1);
}

/** The only column that stands over a cell, or the nearest one where none does; -1 where several do. */
function columnOver(columns: Span[], { x0, x1 }: Span): number {
  const over = columns.flatMap((column, index) => (areOver(column, { x0, x1 }) ? [index] : []));
  if (over.length > 0) return over.length === 1 ? (over[0] ?? -1) : -1;
  return columns.findIndex((column, index) => {
    const next = columns[index + 1];
    return !next || (x0 + x1) / 2 < (column.x1 + next.x0) / 2;
  });
}

/** Dots that lead to the number of a page. */
const isLeader = ({ str }: PrintedPiece) => /^[.\s·…]+$/.test(str);

const isNumber = (piece: PrintedPiece | undefined) => /^[-+(]?[\d.,]+\)?\s?[€%]?\s*$/.test(piece?.str ?? "");

/** Values that are repeated at least `times` times within `near`, one for each group of them. */
function repeated(values: number[], near: number, times: number): number[] {
  const groups: number[][] = [];
  for (const value of values.toSorted((a, b) => a - b)) {
    const group = groups.at(-1);
    if (group && value - (group[0] ?? 0) <= near) group.push(value);
    else groups.push([value]);
  }
  return groups.filter((group) => group.length >= times).map((group) => group[group.length >> 1] ?? 0);
}

/** Parts of a row, parted again where a piece begins or ends at the place of a column behind a narrow gap. */
function partedIn(segments: PrintedPiece[][], places: Places, size: number): PrintedPiece[][] {
  const isAt = (edges: number[], x: number) => edges.some((edge) => Math.abs(edge - x) <= sameColumn * size);
  return segments.flatMap((segment) => {
    const parts: PrintedPiece[][] = [];
    for (const piece of segment) {
      const before = parts.at(-1)?.at(-1);
      const gap = before ? piece.x0 - before.x1 : 0;
      const isWide = gap >= widerThanBlank * size;
      const ends = before && (isWide || isNumber(before)) && isAt(places.rights, before.x1);
      const begins =
        isAt(places.lefts, piece.x0) ||
        (isWide && (isAt(places.rights, piece.x1) || isAt(places.middles, middleOf(piece))));
      const isNext = gap >= blank * size && (ends || begins) && !isLeader(piece);
      if (!before || isNext) parts.push([piece]);
      else parts.at(-1)?.push(piece);
    }
    return parts;
  });
}

/** Beginnings and ends of the parts of a line, but the first. */
const edgesIn = (line: Line): Span[] => segmentsOf(line).slice(1, partsAtMost).map(spanOf);

const areAligned = (some: Span[], others: Span[], near: number) =>
  some.some(({ x0, x1 }) => others.some((b) => Math.abs(x0 - b.x0) < near || Math.abs(x1 - b.x1) < near));
