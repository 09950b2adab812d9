import { markdown } from "./render.server.ts";

// A line that begins like this may not be a paragraph; one with a bar may be a table's head.
const otherBlock =
  /^(?: {0,3}(?:[-+*](?=\s|$)|(?:[-*_][ \t]*)+$|\d{1,9}(?:[.)]|$)|#{1,6}(?=\s|$)|>|`{3}|~{3}|\||\$\$|\\\[|=+\s*$)| {4}|\t)|\|/;
// Repetitions are bounded or anchored at their first blank, to avoid quadratic backtracking.
const sentenceEnd = /[.!?…:;]["'»”’)\]*_~`]{0,20}(?=\s)|(?:(?<! ) {2,}|\\)?\n(?=[^\n])/g;
// A link definition renders nothing, so a paragraph that may begin with one has to wait.
const definition = /^\s*\[[^\]\n]{0,200}(?:\](?::|$)|$)/;
// Longer than any real sentence: from here on the text may be cut after a word.
const longestHeld = 600;

// A word is complete when the next one has begun; a bar after it may make its line the head of a table.
const wordBegun = /\S([ \t]{1,20}[^\s|])$/;

/**
 * Offsets at which a growing paragraph may be cut after `from`: after each sentence, and at each line break that a line of plain text
 * follows. No cut is inside a link or formula, nor inside text that may be code, a link's text or a formula, unless this text already
 * holds a whole sentence. `byWord`: also after the last word but one, if the last word has just begun and no mark is open whose end
 * would change how the text looks.
 */
export function textEnds(paragraph: string, from: number, byWord: boolean): number[] {
  const ends: number[] = [];
  const limit = definition.test(paragraph) ? 0 : sureLength(paragraph);
  let start = from;
  let swallowed = false;
  const cut = (end: number) => {
    ends.push(end);
    start = end;
    swallowed = false;
  };
  sentenceEnd.lastIndex = from;
  for (let match = sentenceEnd.exec(paragraph); match; match = sentenceEnd.exec(paragraph)) {
    const end = match[0].endsWith("\n") ? match.index : match.index + match[0].length;
    if (end > limit) break;
    while (end - start > longestHeld) cut(wordEnd(paragraph, start));
    if (end === start || paragraph.slice(start, end).trim() === "") continue;
    const inside = cutsInside(paragraph.slice(start, end));
    if (inside === "link or formula" || (inside && !swallowed)) swallowed = true;
    else cut(end);
  }
  while (limit - start > longestHeld) cut(wordEnd(paragraph, start));
  if (!byWord) return ends;
  const [, next = ""] = wordBegun.exec(paragraph.slice(-22)) ?? [];
  const text = paragraph.slice(start, paragraph.length - next.length);
  if (next && start + text.length <= limit && text.trim() && !cutsInside(text) && !unclosed(text)) {
    cut(start + text.length);
  }
  return ends;
}

function wordEnd(paragraph: string, start: number): number {
  const space = paragraph.slice(start + 1, start + longestHeld).lastIndexOf(" ");
  return start + (space > 0 ? space + 1 : longestHeld);
}

/** Length of the text that is surely a paragraph: a last line that may begin another block waits for its end. */
function sureLength(paragraph: string): number {
  const math = paragraph.lastIndexOf("\\[");
  const opensMath = math >= 0 && paragraph.slice(paragraph.lastIndexOf("\n", math) + 1, math).trim() === "";
  const mathEnd = paragraph.indexOf("\\]", math);
  if (opensMath && (mathEnd < 0 || !paragraph.includes("\n", mathEnd))) return Math.max(0, math - 1);
  const lineStart = paragraph.lastIndexOf("\n") + 1;
  const line = paragraph.slice(lineStart);
  if (line && !otherBlock.test(line)) return paragraph.length;
  const before = paragraph.slice(paragraph.lastIndexOf("\n", lineStart - 2) + 1, Math.max(0, lineStart - 1));
  // The line before is the head of a table if this one turns out to be its rule.
  const mayBeRule = /^[\s|:-]*$/.test(line);
  return Math.max(0, lineStart - 1 - (before.includes("|") && mayBeRule ? before.length + 1 : 0));
}

/** Whether the text of a list's item may be something else than text: a block of its own, a box to tick, a link's address. */
export const mayBeOtherBlock = (text: string): boolean => otherBlock.test(text) || text.startsWith("[");

const code = /(?<!`)(`+)(?!`)[\s\S]*?[^`]\1(?!`)/g;

/**
 * Whether a cut after this text would surely fall inside a link or a formula, or perhaps inside a link, a formula or code. Texts are
 * sentences, so the patterns see no long texts.
 */
function cutsInside(text: string): "link or formula" | "perhaps" | undefined {
  if (!/[`\\$[\]]/.test(text)) return undefined;
  const noCode = text.replace(code, "").replace(/\\\([\s\S]*?\\\)|\\\[[\s\S]*?\\\]/g, "");
  if (/\\[([]/.test(noCode)) return "perhaps";
  const plain = noCode.replace(/\\[\s\S]/g, "");
  if (plain.includes("`")) return "perhaps";
  const noMath = plain.replace(/\$\$[^$]*\$\$/g, "").replace(/\$[^\s$](?:[^$]*[^\s$])?\$/g, "");
  if (noMath.includes("$$")) return "link or formula";
  if (/(?<![\p{L}\p{N}])\$[^\s\d$]/u.test(noMath)) return "perhaps";
  // Links are whole with their address and title.
  const noLinks = noMath.replace(/\[[^[\]]*\]\((?:[^()"']|"[^"]*"|'[^']*')*\)/g, "");
  if (/\]\((?:[^)]*|[^"]*"[^"]*)$/.test(noLinks)) return "link or formula";
  return noLinks.replace(/\[[^[\]]*\]/g, "").includes("[") ? "perhaps" : undefined;
}

/** The emphasis marks that a text leaves open, outermost first. */
export function unclosed(text: string): string {
  if (!/[*_~]/.test(text)) return "";
  const plain = text
    .slice(-4 * longestHeld)
    .replace(/\\[\s\S]/g, "··")
    .replace(code, (run) => "·".repeat(run.length));
  const open: string[] = [];
  const state = new markdown.inline.State(plain, markdown, {}, []);
  for (const { 0: run, index } of plain.matchAll(/\*{1,3}|_{1,3}|~~/g)) {
    const { can_open, can_close } = state.scanDelims(index, run[0] !== "_");
    if (open.at(-1) === run && can_close) open.pop();
    else if (can_open) open.push(run);
  }
  return open.join("");
}
