import { joinHyphens } from "../hyphens.server.ts";
import {
  type Grid,
  gridsIn,
  heightOf,
  isBetween,
  middleOf,
  squareOf,
  squareUnder,
  withUnruled,
} from "./grid.server.ts";
import { layoutText } from "./layout.server.ts";
import { type PrintedPiece, segmentsOf } from "./printed-line.server.ts";
import type { Rule } from "./rules.server.ts";

// In points: how far the baselines of lines at one height may be apart.
const level = 2;
// Lines of a cell from which on it is a frame around text.
const linesAtMost = 12;
// Share of the pieces that may reach from one cell into another, and of the cells that have to have text.
const acrossAtMost = 0.1;
const filledAtLeast = 0.3;
// Of the type's size: a first line of smaller type is the label of a box.
const smaller = 0.9;
// Lines with several parts from which on a page may have a table.
const partedLines = 2;
// Of the type's size: distance of two rows that are written one after the other.
const rowDistance = 1.2;

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
  for (const grid of gridsIn(rules)) rest = withRowsOf(grid, rest);
  return rest;
}

function withRowsOf(given: Grid, pieces: PrintedPiece[]): PrintedPiece[] {
  const grid = withUnruled(given, pieces);
  const outside = pieces.filter((piece) => !squareUnder(grid, piece));
  const within = pieces.filter((piece) => squareUnder(grid, piece));
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
  one.pieces.every((piece) => other.pieces.some(({ y }) => Math.abs(y - piece.y) <= level));

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
