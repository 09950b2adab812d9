// A line that begins like this may turn out to be no paragraph; one with a bar may head a table.
const otherBlock =
  /^(?: {0,3}(?:[-+*](?=[\s*-]|$)|\d{1,9}(?:[.)]|$)|#{1,6}(?=\s|$)|>|`{3}|~{3}|\||\$\$|\\\[|=+\s*$|_{3})| {4}|\t)|\|/;
const sentenceEnd = /[.!?…:;]["'»”’)\]*_~`]*(?=\s)|\n(?=[^\n])/g;

/**
 * Where a paragraph that is still growing may be cut after `from`: after each sentence, and at each line break that a line
 * of plain text follows. Not inside code, links or math, unless they have already swallowed a whole sentence.
 */
export function sentenceEnds(paragraph: string, from: number): number[] {
  const ends: number[] = [];
  let start = from;
  let swallowed = false;
  const limit = sureLength(paragraph);
  sentenceEnd.lastIndex = from;
  for (let match = sentenceEnd.exec(paragraph); match; match = sentenceEnd.exec(paragraph)) {
    const end = match[0] === "\n" ? match.index : match.index + match[0].length;
    if (end > limit) break;
    if (end === start || paragraph.slice(start, end).trim() === "") continue;
    if (cutsInside(paragraph.slice(start, end)) && !swallowed) {
      swallowed = true;
      continue;
    }
    swallowed = false;
    ends.push(end);
    start = end;
  }
  return ends;
}

/** How much of the text is surely paragraph: a last line that may begin something else waits for its end. */
function sureLength(paragraph: string): number {
  const lineStart = paragraph.lastIndexOf("\n") + 1;
  const line = paragraph.slice(lineStart);
  if (line && !otherBlock.test(line)) return paragraph.length;
  const before = paragraph.slice(paragraph.lastIndexOf("\n", lineStart - 2) + 1, Math.max(0, lineStart - 1));
  // The line before is the head of a table if this one turns out to be its rule.
  const mayBeRule = /^[\s|:-]*$/.test(line);
  return Math.max(0, lineStart - 1 - (before.includes("|") && mayBeRule ? before.length + 1 : 0));
}

/** Whether a cut after this text would fall inside code, a link or math. */
function cutsInside(text: string): boolean {
  const plain = text.replace(/\\[\s\S]/g, "").replace(/(`+)(?!`)[\s\S]*?[^`]\1(?!`)/g, "");
  if (plain.includes("`")) return true;
  const noMath = plain.replace(/\$[^\s$](?:[^$]*[^\s$])?\$/g, "");
  if (/\$[^\s\d$]/.test(noMath)) return true;
  const noLinks = noMath.replace(/\[[^[\]]*\](?:\([^()]*\))?/g, "");
  return /\[|\]\([^)]*$/.test(noLinks);
}

/** The emphasis marks that a text leaves open, outermost first. */
export function unclosed(text: string): string {
  const plain = text
    .replace(/\\[\s\S]/g, "··")
    .replace(/(`+)(?!`)[\s\S]*?[^`]\1(?!`)/g, (code) => "·".repeat(code.length));
  const open: string[] = [];
  for (const { 0: run, index } of plain.matchAll(/\*{1,2}|_{1,2}|~~/g)) {
    const before = plain[index - 1] ?? " ";
    const after = plain[index + run.length] ?? " ";
    const closes = open.at(-1) === run && /\S/.test(before);
    const opens = /[\p{L}\p{N}¿¡"'«“(\\·`]/u.test(after) && (run[0] !== "_" || !/[\p{L}\p{N}]/u.test(before));
    if (closes) open.pop();
    else if (opens) open.push(run);
  }
  return open.join("");
}
