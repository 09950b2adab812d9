import { joinHyphens } from "../hyphens.server.ts";
import { layoutText } from "./layout.server.ts";
import { type PrintedPiece, partsOf, segmentsOf } from "./printed-line.server.ts";
import type { Rule } from "./rules.server.ts";

// In points: how far lines that meet may be apart.
const near = 2;
// In points: lines nearer to each other are one, as those of a cell and of a table that fills it.
const sameLine = 4;
// In points: lines that stick out by more belong to a table without a line at that side.
const openSide = 12;
// Rules of a table; more are a chart or a drawing.
const rulesAtMost = 250;
// Lines of a cell from which on it is a frame around text.
const linesAtMost = 12;
// Share of the pieces that may reach from one cell into another, and of the cells that have to have text.
const acrossAtMost = 0.1;
const filledAtLeast = 0.3;
// Of the type's size: a first line of smaller type is the label of a box.
const smaller = 0.9;
// Lines with several parts from which on a page may have a table.
const partedLines = 2;
// Of the type's size: space between two parts of a line that stand in columns of their own.
const columnGap = 0.8;
// Of the type's size: distance of the line above or below a table that is a row of it.
const besideTable = 1.2;
// Of the type's size: distance of two rows that are written one after the other.
const rowDistance = 1.2;

/** Places of the lines of a table, and the cell, by a number, of each of its smallest squares: `cellOf[row][column]`. */
type Grid = { xs: number[]; ys: number[]; cellOf: number[][] };
/** A cell: its rows and columns, from 0, both ends included; the place of its right side; and its text. */
type Cell = {
  top: number;
  bottom: number;
  left: number;
  right: number;
  /** Smallest squares that it takes. */
  squares: number;
  side: number;
  pieces: PrintedPiece[];
  lines: string[];
};

/** Whether some lines have parts with wide gaps between them: only then are the lines of a page worth looking for. */
export function hasParts(pieces: PrintedPiece[]): boolean {
  const byLine = Map.groupBy(pieces, ({ y }) => Math.round(y));
  const parted = [...byLine.values()].filter((line) => {
    const sorted = line.toSorted((a, b) => a.x0 - b.x0);
    return segmentsOf({ pieces: sorted, y: 0, size: sorted[0]?.size ?? 1 }).length > 1;
  });
  return parted.length >= partedLines;
}

/**
 * Pieces of a page, with each row of a table with lines around its cells as one piece, its cells between bars: a cell may have several
 * lines, and stand in the middle of its row. Other pieces stay as they are, also those of tables whose rows have no lines between them.
 */
export function withRuledRows(pieces: PrintedPiece[], rules: Rule[]): PrintedPiece[] {
  let rest = pieces;
  for (const table of tablesAmong(rules)) {
    const grid = gridOf(table);
    rest = grid ? withRowsOf(grid, rest) : rest;
  }
  return rest;
}

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

/**
 * The grid with a cell for each column where a row has no lines between its cells, but its parts stand in the columns of the rows that have.
 */
function withColumns(grid: Grid, pieces: PrintedPiece[]): Grid {
  const { xs, cellOf } = grid;
  const byCell = Map.groupBy(pieces, (piece) => {
    const square = squareOf(grid, middleOf(piece), heightOf(piece));
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
  const lines = [...Map.groupBy(outside, ({ y }) => Math.round(y)).values()];
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

function withRowsOf(given: Grid, pieces: PrintedPiece[]): PrintedPiece[] {
  const isOutside = (grid: Grid, piece: PrintedPiece) => !squareOf(grid, middleOf(piece), heightOf(piece));
  const whole = withHeadAndFoot(
    given,
    pieces.filter((piece) => isOutside(given, piece)),
  );
  const outside = pieces.filter((piece) => isOutside(whole, piece));
  const within = pieces.filter((piece) => !isOutside(whole, piece));
  const grid = withColumns(whole, within);
  const { xs, ys } = grid;
  const cells = cellsOf(grid, within);
  if (!cells || within.length === 0) return pieces;
  const columns = columnsOfRows(grid, cells);
  // Text beside the table belongs to its rows, which then stay at their heights.
  const beside = outside.filter((piece) => isBetween(ys[0], heightOf(piece), ys.at(-1)));
  const rows: PrintedPiece[] = [];
  let written: { at: number; size: number } | undefined;
  for (let row = 0; row + 1 < ys.length; row++) {
    const inRow = [...cells.values()].filter(({ top, bottom }) => top <= row && bottom >= row);
    const own = inRow.flatMap(({ pieces, top }) => (top === row ? pieces : []));
    if (own.length === 0) continue;
    if (hasRows(inRow.filter(({ top, bottom }) => top === bottom))) {
      rows.push(...own);
      written = undefined;
      continue;
    }
    const size = own.reduce((most, piece) => Math.max(most, piece.size), 1);
    const inBand = beside.find((piece) => isBetween(ys[row], heightOf(piece), ys[row + 1]));
    // Without text beside them, rows follow each other at the distance of lines, however high they are.
    const before = beside.length === 0 ? written : undefined;
    const y: number = before
      ? before.at + rowDistance * Math.max(size, before.size)
      : (inBand?.y ?? (ys[row] ?? 0) + size);
    written = { at: y, size };
    rows.push({ str: rowText(inRow, columns[row] ?? []), dir: "ltr", x0: xs[0] ?? 0, x1: xs.at(-1) ?? 0, y, size });
  }
  return [...outside, ...rows];
}

const isBetween = (from: number | undefined, at: number, to: number | undefined) =>
  at >= (from ?? 0) && at <= (to ?? 0);

const middleOf = ({ x0, x1 }: PrintedPiece) => (x0 + x1) / 2;
// The middle of small letters, above the baseline.
const heightOf = ({ y, size }: PrintedPiece) => y - 0.3 * size;

/** The row and the column in which a point is; undefined outside. */
function squareOf({ xs, ys }: Grid, x: number, y: number): { row: number; column: number } | undefined {
  const column = xs.findLastIndex((left) => left <= x);
  const row = ys.findLastIndex((top) => top <= y);
  return column < 0 || row < 0 || column + 1 >= xs.length || row + 1 >= ys.length ? undefined : { row, column };
}

/** The cells of a table with their text; undefined for a frame, or where the lines are no lines of a table. */
function cellsOf(grid: Grid, pieces: PrintedPiece[]): Map<number, Cell> | undefined {
  const cells = new Map<number, Cell>();
  for (const [row, those] of grid.cellOf.entries()) {
    for (const [column, id] of those.entries()) {
      const cell = cells.get(id) ?? {
        ...{ top: row, bottom: row, left: column, right: column, squares: 0, side: 0 },
        ...{ pieces: [], lines: [] },
      };
      [cell.bottom, cell.left, cell.right] = [row, Math.min(cell.left, column), Math.max(cell.right, column)];
      cell.squares++;
      cell.side = grid.xs[cell.right + 1] ?? 0;
      cells.set(id, cell);
    }
  }
  let across = 0;
  for (const piece of pieces) {
    const [id, first, last] = [middleOf(piece), piece.x0 + piece.size / 2, piece.x1 - piece.size / 2].map((x) => {
      const square = squareOf(grid, x, heightOf(piece));
      return square && grid.cellOf[square.row]?.[square.column];
    });
    if (piece.x1 - piece.x0 > piece.size && first !== last) across++;
    if (id !== undefined) cells.get(id)?.pieces.push(piece);
  }
  for (const cell of cells.values()) cell.lines = layoutText(cell.pieces).split("\n").filter(Boolean);
  const filled = [...cells.values()].filter(({ lines }) => lines.length > 0);
  const isFrame = filled.every(({ left, right }) => left === 0 && right + 2 === grid.xs.length);
  // Two cells of other shapes may begin in one column of a row, and one of them would be lost.
  const isEven = [...cells.values()].every(
    ({ top, bottom, left, right, squares }) => squares === (bottom - top + 1) * (right - left + 1),
  );
  const isTable =
    !isFrame && isEven && across <= acrossAtMost * pieces.length && filled.length >= filledAtLeast * cells.size;
  return isTable ? cells : undefined;
}

const isNumber = (line: string) => /^[\s\d.,:/%€+-]{1,40}$/.test(line);

/** Whether the cells side by side are columns with rows of their own: many lines, a list of numbers, or lines at the same heights. */
function hasRows(cells: Cell[]): boolean {
  if (cells.some(({ lines }) => lines.length > linesAtMost || lines.some((line) => line.includes(" | ")))) return true;
  const several = cells.filter(({ lines }) => lines.length > 1);
  if (several.length < 2) return false;
  if (several.some(({ lines }) => lines.every(isNumber))) return true;
  if (several.every(isLabelled)) return false;
  return several.some((one, index) =>
    several
      .slice(index + 1)
      .some((other) => areLevel(one, other) && areLevel(other, one) && !(isWrapped(one) && isWrapped(other))),
  );
}

/** Whether a cell is a box of a form: a label in small type above its answer. */
function isLabelled({ pieces }: Cell): boolean {
  const sorted = pieces.toSorted((a, b) => a.y - b.y);
  const [first, last] = [sorted[0], sorted.at(-1)];
  return first !== undefined && last !== undefined && first.size < smaller * last.size;
}

const areLevel = (one: Cell, other: Cell) =>
  one.pieces.every((piece) => other.pieces.some(({ y }) => Math.abs(y - piece.y) <= near));

/** Whether the text of a cell was broken where it met the right side: each line has no room for the first word of the next one. */
function isWrapped({ pieces, side }: Cell): boolean {
  const lines = [...Map.groupBy(pieces, ({ y }) => Math.round(y)).values()].map((those) => ({
    y: those[0]?.y ?? 0,
    x0: Math.min(...those.map(({ x0 }) => x0)),
    x1: Math.max(...those.map(({ x1 }) => x1)),
    size: those[0]?.size ?? 1,
    text: those.map(({ str }) => str).join(""),
  }));
  return lines
    .toSorted((a, b) => a.y - b.y)
    .every((line, index, all) => {
      const next = all[index + 1];
      const [word = ""] = /\S+/.exec(next?.text ?? "") ?? [];
      if (!next) return true;
      const width = ((next.x1 - next.x0) * word.length) / next.text.length;
      return line.x1 + width + line.size / 2 > side - line.size / 2;
    });
}

/**
 * For each row of a table the squares at which its columns begin, also where a cell goes over several of them: those of the row near it that has
 * most, as long as the others fit under it.
 */
function columnsOfRows({ cellOf }: Grid, cells: Map<number, Cell>): number[][] {
  const found: Set<number>[] = [];
  for (const [row, ids] of cellOf.entries()) {
    const begins = new Set(ids.flatMap((id) => cells.get(id)?.left ?? []));
    const above = found[row - 1];
    if (above?.isSupersetOf(begins)) found.push(above);
    else found.push(begins);
    if (!above || above.isSupersetOf(begins) || !begins.isSupersetOf(above)) continue;
    for (let at = row - 1; found[at] === above; at--) found[at] = begins;
  }
  return found.map((begins) => [...begins].sort((a, b) => a - b));
}

/** The cells of a row between bars. One over several columns keeps their places, so that the next one stands under its own heading. */
function rowText(cells: Cell[], columns: number[]): string {
  const texts = columns.map((column) => {
    const lines = cells.find(({ left }) => left === column)?.lines ?? [];
    const [text = ""] = joinHyphens([lines.join("\n")]);
    return text.replace(/\s+/g, " ").trim();
  });
  const last = texts.findLastIndex((text) => text !== "");
  return texts
    .slice(0, last + 1)
    .join(" | ")
    .replace(/ {2,}/g, " ");
}
