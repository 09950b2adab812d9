import { type PrintedPiece, partsOf } from "./printed-line.server.ts";
import type { Rule } from "./rules.server.ts";

// In points: how far lines that meet may be apart.
const near = 2;
// In points: lines nearer to each other are one, as those of a cell and of a table that fills it.
const sameLine = 4;
// In points: lines that stick out by more belong to a table without a line at that side.
const openSide = 12;
// Rules of a table; more are a chart or a drawing.
const rulesAtMost = 250;
// Of the type's size: space between two parts of a line that stand in columns of their own.
const columnGap = 0.8;
// Of the type's size: distance of the line above or below a table that is a row of it.
const besideTable = 1.2;

/** Places of the lines of a table, and the cell, by a number, of each of its smallest squares: `cellOf[row][column]`. */
export type Grid = { xs: number[]; ys: number[]; cellOf: number[][] };
/** The grids of tables that rules make. */
export const gridsIn = (rules: Rule[]): Grid[] => tablesAmong(rules).flatMap((table) => gridOf(table) ?? []);

/** Rules that touch each other, as lists. */
function tablesAmong(rules: Rule[]): Rule[][] {
  const left = new Set(rules);
  const tables: Rule[][] = [];
  for (const first of rules) {
    if (!left.delete(first)) continue;
    const table = [first];
    for (const rule of table) {
      for (const other of left) {
        if (!touch(rule, other)) continue;
        left.delete(other);
        table.push(other);
      }
    }
    if (table.length <= rulesAtMost) tables.push(table);
  }
  return tables;
}

const isWithin = (at: number, { from, to }: Rule) => at >= from - near && at <= to + near;
const touch = (one: Rule, other: Rule) =>
  one.isAcross !== other.isAcross && isWithin(one.at, other) && isWithin(other.at, one);

function gridOf(table: Rule[]): Grid | undefined {
  const [across, down] = [table.filter((rule) => rule.isAcross), table.filter((rule) => !rule.isAcross)];
  if (across.length < 2 || down.length === 0) return undefined;
  const xs = placesOf(down, across);
  const ys = placesOf(across, down);
  if (xs.length < 3 || ys.length < 2) return undefined;
  const cellOf: number[][] = [];
  let count = 0;
  for (let row = 0; row + 1 < ys.length; row++) {
    const [top = 0, bottom = 0] = ys.slice(row, row + 2);
    cellOf.push([]);
    for (let column = 0; column + 1 < xs.length; column++) {
      const [left = 0, right = 0] = xs.slice(column, column + 2);
      const above = cellOf[row - 1]?.[column];
      const before = cellOf[row]?.[column - 1];
      const isOpenAbove = above !== undefined && !parts(across, top, (left + right) / 2);
      const isOpenBefore = before !== undefined && !parts(down, left, (top + bottom) / 2);
      cellOf[row]?.push(isOpenAbove ? above : isOpenBefore ? before : count++);
    }
  }
  return { xs, ys, cellOf };
}

/** Whether a rule stands at a place, where a square is. */
const parts = (rules: Rule[], at: number, middle: number) =>
  rules.some((rule) => Math.abs(rule.at - at) <= sameLine && rule.from <= middle && rule.to >= middle);

/** Places of rules in one direction, in order; where those that cross them stick out, the table is open at that side. */
function placesOf(rules: Rule[], crossing: Rule[]): number[] {
  const places: number[] = [];
  for (const { at } of rules.toSorted((a, b) => a.at - b.at))
    if (at - (places.at(-1) ?? Number.NEGATIVE_INFINITY) > sameLine) places.push(at);
  const [first = 0, last = 0] = [places[0], places.at(-1)];
  const [from, to] = [Math.min(...crossing.map((one) => one.from)), Math.max(...crossing.map((one) => one.to))];
  return [...(first - from > openSide ? [from] : []), ...places, ...(to - last > openSide ? [to] : [])];
}

/** The grid with the rows and cells that have no lines of their own, but stand in its columns. */
export function withUnruled(grid: Grid, pieces: PrintedPiece[]): Grid {
  const outside = pieces.filter((piece) => !squareUnder(grid, piece));
  const whole = withHeadAndFoot(grid, outside);
  return withColumns(
    whole,
    pieces.filter((piece) => squareUnder(whole, piece)),
  );
}

/**
 * The grid with a cell for each column where a row has no lines between its cells, but its parts stand in the columns of the rows that have.
 */
function withColumns(grid: Grid, pieces: PrintedPiece[]): Grid {
  const { xs, cellOf } = grid;
  const byCell = Map.groupBy(pieces, (piece) => {
    const square = squareUnder(grid, piece);
    return square && cellOf[square.row]?.[square.column];
  });
  const parted = new Set<number>();
  for (const [id, own] of byCell) {
    if (id === undefined || cellOf.filter((row) => row.includes(id)).length > 1) continue;
    const columns = columnsOfParts(xs, own);
    if (columns && columns.size > 1) parted.add(id);
  }
  if (parted.size === 0) return grid;
  let count = Math.max(...cellOf.flat()) + 1;
  return { ...grid, cellOf: cellOf.map((row) => row.map((id) => (parted.has(id) ? count++ : id))) };
}

/** The grid with one more row above or below for a line whose parts stand in its columns: headings and sums on a colour, without lines. */
function withHeadAndFoot({ xs, ys, cellOf }: Grid, outside: PrintedPiece[]): Grid {
  const [top = 0, bottom = 0] = [ys[0], ys.at(-1)];
  const close = outside.filter(({ y, size }) => isBetween(top - 2 * size, y, bottom + 3 * size));
  const lines = [...Map.groupBy(close, ({ y }) => Math.round(y)).values()];
  const near = (distance: (piece: PrintedPiece) => number) =>
    lines.find((line) => {
      const columns = line.every((piece) => isBetween(0, distance(piece), besideTable * piece.size));
      return columns && (columnsOfParts(xs, line)?.size ?? 0) > 1;
    })?.[0];
  const head = near(({ y }) => top - y);
  const foot = near(({ y, size }) => y - size - bottom);
  const count = Math.max(...cellOf.flat()) + 1;
  const row = (from: number) => xs.slice(1).map((_, column) => from + column);
  return {
    xs,
    ys: [...(head ? [head.y - head.size] : []), ...ys, ...(foot ? [foot.y + foot.size / 2] : [])],
    cellOf: [...(head ? [row(count)] : []), ...cellOf, ...(foot ? [row(count + xs.length)] : [])],
  };
}

/** The columns in which the parts of some lines stand; undefined if one reaches over several. */
function columnsOfParts(xs: number[], pieces: PrintedPiece[]): Set<number> | undefined {
  const columns = new Set<number>();
  for (const those of Map.groupBy(pieces, ({ y }) => Math.round(y)).values()) {
    const line = those.toSorted((a, b) => a.x0 - b.x0);
    for (const part of partsOf({ pieces: line, y: 0, size: line[0]?.size ?? 1 }, columnGap)) {
      const [first, last] = [part[0]?.x0 ?? 0, part.at(-1)?.x1 ?? 0].map((x) => xs.findLastIndex((left) => left <= x));
      if (first === undefined || first < 0 || first + 1 >= xs.length || first !== last) return undefined;
      columns.add(first);
    }
  }
  return columns;
}

export const isBetween = (from: number | undefined, at: number, to: number | undefined) =>
  at >= (from ?? 0) && at <= (to ?? 0);

/** The square under the middle of a piece; undefined outside. */
export const squareUnder = (grid: Grid, piece: PrintedPiece) => squareOf(grid, middleOf(piece), heightOf(piece));

export const middleOf = ({ x0, x1 }: PrintedPiece) => (x0 + x1) / 2;
// The middle of small letters, above the baseline.
export const heightOf = ({ y, size }: PrintedPiece) => y - 0.3 * size;

/** The row and the column in which a point is; undefined outside. */
export function squareOf({ xs, ys }: Grid, x: number, y: number): { row: number; column: number } | undefined {
  const column = xs.findLastIndex((left) => left <= x);
  const row = ys.findLastIndex((top) => top <= y);
  return column < 0 || row < 0 || column + 1 >= xs.length || row + 1 >= ys.length ? undefined : { row, column };
}
