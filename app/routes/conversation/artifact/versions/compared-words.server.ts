import { diffLines, diffWordsWithSpace } from "diff";

export type ComparedPiece = { kind: "same" | "added" | "removed"; text: string };

// Time limits in ms, for all lines, for the words of one change and of all changes: texts with little in common take quadratic time.
const linesWithin = 150;
const wordsWithin = 20;
const wordsInAll = 150;
// Lines around a change, and characters of a change that are compared by words.
const linesAround = 2;
const wordsUpTo = 6_000;

/** Two versions of a text, compared by words where lines have changed; unchanged text is cut to the lines next to a change. */
export function comparedWords(before: string, after: string): ComparedPiece[] {
  const lines = diffLines(before, after, { timeout: linesWithin });
  if (!lines) return [piece("removed", before), piece("added", after)];
  const until = performance.now() + wordsInAll;
  const pieces: ComparedPiece[] = [];
  for (const [n, { added, removed, value }] of lines.entries()) {
    const next = lines[n + 1];
    if (removed && next?.added) pieces.push(...words(value, next.value, until));
    else if (added && lines[n - 1]?.removed) continue;
    else if (added || removed) pieces.push(piece(added ? "added" : "removed", value));
    else pieces.push(piece("same", shortened(value, { isFirst: n === 0, isLast: n === lines.length - 1 })));
  }
  return pieces;
}

function words(before: string, after: string, until: number): ComparedPiece[] {
  const isShort = before.length + after.length <= wordsUpTo && performance.now() < until;
  const found = isShort ? diffWordsWithSpace(before, after, { timeout: wordsWithin }) : undefined;
  if (!found) return [piece("removed", before), piece("added", after)];
  return found.map(({ added, removed, value }) => piece(added ? "added" : removed ? "removed" : "same", value));
}

const piece = (kind: ComparedPiece["kind"], text: string): ComparedPiece => ({ kind, text });

/** Unchanged lines, cut to those next to a change. */
function shortened(text: string, { isFirst, isLast }: { isFirst: boolean; isLast: boolean }): string {
  const lines = text.split("\n");
  const before = isFirst ? 0 : linesAround;
  const after = isLast ? 0 : linesAround + 1;
  if (lines.length <= before + after + 2) return text;
  const left = lines.length - before - after;
  return [
    ...lines.slice(0, before),
    `… ${left} ${left === 1 ? "línea igual" : "líneas iguales"} …`,
    ...lines.slice(lines.length - after),
  ].join("\n");
}
