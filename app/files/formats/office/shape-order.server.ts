import type { TextWriter } from "../text-writer.server.ts";

/** A place on a slide, in the units of its file; `x` and `y` of the upper left corner. */
export type Box = { x: number; y: number; width: number; height: number };
/** A shape of a slide with its text, or a group of shapes; without a place where the file gives none. */
export type Shape = { box: Box | undefined; text: string; within: Shape[] };

// Part of the height of the lower of two shapes by which their middles may differ in one row.
const sameRow = 0.5;

/**
 * Writes shapes as they are looked at, and not as they were drawn one over another: from the top, and from the left within a row. Short texts
 * side by side are the cells of a row. A shape without a place comes behind the one that stands before it in the file.
 */
export function writeShapes(writer: TextWriter, shapes: Shape[]): void {
  let wasRow = false;
  for (const row of rowsOf(shapes)) {
    const texts = row.map(({ text }) => text);
    const follows = wasRow;
    wasRow = false;
    if (row.length > 1 && row.every(({ text, within }) => within.length === 0 && text && !/[\n|]|^#/.test(text))) {
      if (follows) writer.line();
      else writer.paragraph();
      writer.text(texts.join(" | "));
      wasRow = true;
      continue;
    }
    for (const { text, within } of row) {
      if (within.length > 0) writeShapes(writer, within);
      if (!text) continue;
      writer.paragraph();
      for (const [index, line] of text.split("\n").entries()) {
        if (index > 0) writer.line();
        writer.text(line);
      }
    }
  }
}

function rowsOf(shapes: Shape[]): Shape[][] {
  const shown = shapes.filter(({ text, within }) => text || within.length > 0);
  const followers = new Map<Shape, Shape[]>();
  const placed: Shape[] = [];
  let before: Shape | undefined;
  for (const shape of shown) {
    if (shape.box || !before) {
      placed.push(shape);
      before = shape;
    } else {
      const those = followers.get(before) ?? [];
      those.push(shape);
      followers.set(before, those);
    }
  }
  const top = ({ box }: Shape) => box?.y ?? Number.NEGATIVE_INFINITY;
  const rows: Shape[][] = [];
  for (const shape of placed.toSorted((a, b) => top(a) - top(b))) {
    const row = rows.at(-1);
    if (row?.[0] && isBeside(row[0], shape)) row.push(shape);
    else rows.push([shape]);
  }
  return rows.flatMap((row) => {
    const sorted = row.toSorted((a, b) => (a.box?.x ?? 0) - (b.box?.x ?? 0));
    const behind = sorted.flatMap((shape) => followers.get(shape) ?? []);
    return [sorted, ...behind.map((shape) => [shape])];
  });
}

function isBeside({ box: one }: Shape, { box: other }: Shape): boolean {
  if (!one || !other) return false;
  const middles = Math.abs(one.y + one.height / 2 - other.y - other.height / 2);
  return middles <= sameRow * Math.min(one.height, other.height);
}
