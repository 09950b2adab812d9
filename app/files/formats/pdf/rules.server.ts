import { OPS } from "pdfjs-dist/legacy/build/pdf.mjs";
import { type Matrix, product } from "./matrix.server.ts";

/** A straight line on a page, as between cells: `at` is its place, `from` and `to` its ends. In points of the page as it is shown. */
export type Rule = { isAcross: boolean; at: number; from: number; to: number };
type Operators = { fnArray: number[]; argsArray: unknown[] };
type Point = [x: number, y: number];

// In points: thicker is an area, shorter is a part of a letter or a tick.
const thickest = 3;
const shortest = 3;
// In points: how far a straight line may be off, and how far apart the pieces of one may be.
const slack = 1.5;
const gap = 3;
// A page with more is a drawing.
const rulesAtMost = 4_000;

// The steps of a path, as pdf.js packs them, with the numbers that each has.
const [moveTo, lineTo, curveTo, quadraticTo, closePath] = [0, 1, 2, 3, 4];
const numbersOf = new Map([
  [moveTo, 2],
  [lineTo, 2],
  [curveTo, 6],
  [quadraticTo, 4],
  [closePath, 0],
]);
const filling = new Set<unknown>([OPS.fill, OPS.eoFill, OPS.fillStroke, OPS.eoFillStroke, OPS.closeFillStroke]);
const stroking = new Set<unknown>([OPS.stroke, OPS.closeStroke, OPS.fillStroke, OPS.eoFillStroke, OPS.closeFillStroke]);

/** The straight lines of a page, each in one piece; none of a drawing. `view`: from the page's points to those that are shown. */
export function rulesIn({ fnArray, argsArray }: Operators, view: Matrix): Rule[] {
  const rules: Rule[] = [];
  const open: Matrix[] = [];
  let at = view;
  for (const [index, operator] of fnArray.entries()) {
    const given = argsArray[index];
    if (operator === OPS.save) open.push(at);
    else if (operator === OPS.restore) at = open.pop() ?? at;
    else if (operator === OPS.transform) at = product(at, numbersIn(given));
    else if (operator === OPS.paintFormXObjectBegin) {
      open.push(at);
      at = product(at, numbersIn(Array.isArray(given) ? given[0] : undefined));
    } else if (operator === OPS.paintFormXObjectEnd) at = open.pop() ?? at;
    else if (operator === OPS.constructPath && Array.isArray(given)) {
      for (const rule of rulesOfPath(given, at)) rules.push(rule);
    }
    if (rules.length > rulesAtMost) return [];
  }
  return joined(rules);
}

const numbersIn = (given: unknown): number[] =>
  Array.isArray(given) || ArrayBuffer.isView(given) ? Array.from(given as ArrayLike<unknown>, Number) : [];

function rulesOfPath([operator, buffers]: unknown[], at: Matrix): Rule[] {
  const paths = pathsIn(numbersIn(Array.isArray(buffers) ? buffers[0] : undefined), at);
  return paths.flatMap((path) => [
    ...(filling.has(operator) ? ruleOfArea(path) : []),
    ...(stroking.has(operator) ? path.flatMap((point, index) => ruleBetween(path[index - 1], point)) : []),
  ]);
}

/** The parts of a path that have straight sides only, as the points on them. */
function pathsIn(steps: number[], at: Matrix): Point[][] {
  const paths: Point[][] = [];
  let path: Point[] = [];
  let isStraight = true;
  const end = () => {
    if (isStraight && path.length > 1) paths.push(path);
    path = [];
    isStraight = true;
  };
  for (let place = 0; place < steps.length; ) {
    const step = steps[place] ?? closePath;
    const numbers = numbersOf.get(step);
    // An unknown step: its numbers can't be told from steps.
    if (numbers === undefined) return [];
    if (step === moveTo) end();
    if (step === closePath && path[0]) path.push(path[0]);
    if (numbers > 2) isStraight = false;
    if (numbers > 0) path.push(pointAt(at, steps[place + numbers - 1], steps[place + numbers]));
    place += 1 + numbers;
  }
  end();
  return paths;
}

const pointAt = ([a = 1, b = 0, c = 0, d = 1, e = 0, f = 0]: Matrix, x = 0, y = 0): Point => [
  a * x + c * y + e,
  b * x + d * y + f,
];

/** A filled area that is as thin as a line. */
function ruleOfArea(path: Point[]): Rule[] {
  // A path of a map has more points than a call takes arguments.
  const least = (place: 0 | 1) =>
    path.reduce((found, point) => Math.min(found, point[place]), Number.POSITIVE_INFINITY);
  const most = (place: 0 | 1) => path.reduce((found, point) => Math.max(found, point[place]), Number.NEGATIVE_INFINITY);
  const [left, right, top, bottom] = [least(0), most(0), least(1), most(1)];
  const [width, height] = [right - left, bottom - top];
  if (height <= thickest && width >= shortest && width > height)
    return [{ isAcross: true, at: (top + bottom) / 2, from: left, to: right }];
  if (width <= thickest && height >= shortest && height > width)
    return [{ isAcross: false, at: (left + right) / 2, from: top, to: bottom }];
  return [];
}

function ruleBetween(one: Point | undefined, other: Point): Rule[] {
  if (!one) return [];
  const [width, height] = [Math.abs(one[0] - other[0]), Math.abs(one[1] - other[1])];
  const between = (place: 0 | 1) => ({
    from: Math.min(one[place], other[place]),
    to: Math.max(one[place], other[place]),
  });
  if (height <= slack && width >= shortest) return [{ isAcross: true, at: (one[1] + other[1]) / 2, ...between(0) }];
  if (width <= slack && height >= shortest) return [{ isAcross: false, at: (one[0] + other[0]) / 2, ...between(1) }];
  return [];
}

/** Rules in one line put together: programs draw the lines of each cell by themselves. */
function joined(rules: Rule[]): Rule[] {
  const lines: Rule[] = [];
  for (const isAcross of [true, false]) {
    const open: Rule[] = [];
    for (const rule of rules.filter((one) => one.isAcross === isAcross).sort((a, b) => a.from - b.from)) {
      const line = open.find((one) => Math.abs(one.at - rule.at) <= slack && rule.from <= one.to + gap);
      if (line) line.to = Math.max(line.to, rule.to);
      else open.push({ ...rule });
    }
    lines.push(...open);
  }
  return lines;
}
