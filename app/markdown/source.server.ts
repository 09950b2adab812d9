import type markdownIt from "markdown-it";
import { changedBetween } from "../process/text/between.ts";
import { withIndentedLists } from "./list-indents.server.ts";

type MarkdownIt = ReturnType<typeof markdownIt>;

/** Adds the step that reads a source as models and people write it, before the parser reads it as CommonMark. */
export function addSourceStep(md: MarkdownIt): void {
  md.core.ruler.after("normalize", "as_written", (state) => {
    state.src = asWritten(state.src);
  });
}

// Also in quotations and lists, whose marks may stand before it.
const fence = /^[ >]{0,12}(?:(?:[-+*]|\d{1,9}[.)]) {1,4})?(`{3,}|~{3,})[ \t]*([^\s`]*)/;
/** A definition of a link: its mark, its label and its address. Notes (`[^1]:`) are something else. */
const definition = /^( {0,3})\[([^\][^][^\][]{0,200})\]:[ \t]+(\S+)/;
const address = /^(?:[a-z][a-z\d+.-]*:|[/#<])/i;
// The heading of a quotation that GitHub shows as a notice.
const alert = /^( {0,3}> ?)\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\][ \t]*$/i;
const alerts: Record<string, string> = {
  NOTE: "Nota",
  TIP: "Consejo",
  IMPORTANT: "Importante",
  WARNING: "Aviso",
  CAUTION: "Cuidado",
};
// «- > 65 años» compares.
const comparison = /^(\s{0,12}(?:[-+*]|\d{1,9}[.)]) +)>(?= ?\d)/;
const environment = /^\\begin\{((?:equation|align|gather|multline|eqnarray)\*?)\}/;
const formulaMark = /^\s{0,12}(?:\$\$|\\\[|\\\])/;

/** The source, with as many lines, in which what CommonMark would take for something else, or lose, is plain. Takes linear time. */
export function asWritten(given: string): string {
  const src = withIndentedLists(given);
  if (!/[[>|]|\\begin|(?:`{3}|~{3})m/.test(src)) return src;
  const lines = src.split("\n");
  const used = labelsUsedIn(lines);
  let open: string | undefined;
  let isTable = false;
  let isFormula = false;
  for (let n = 0; n < lines.length; n++) {
    const line = lines[n] ?? "";
    const [, mark = "", info = ""] = fence.exec(line) ?? [];
    if (open) {
      if (mark.startsWith(open) && !info) open = undefined;
      continue;
    }
    if (mark) {
      open = outerMark(lines, n, mark, info);
      continue;
    }
    if (formulaMark.test(line) && !isWholeFormula(line)) isFormula = !isFormula;
    if (line.trim() === "") isTable = false;
    else if (line.includes("|") && isTableRule(lines[n + 1])) isTable = true;
    const end = isFormula ? -1 : environmentEnd(lines, n);
    if (end >= n) {
      lines[n] = `$$${lines[n]}`;
      lines[end] = `${lines[end]?.trimEnd()}$$`;
      n = end;
    } else lines[n] = plainLine(isTable ? withEscapedBars(line) : line, used);
  }
  return lines.join("\n");
}

const isWholeFormula = (line: string) => /^\s*(?:\$\$.+\$\$|\\\[.+\\\])\s*$/.test(line);

function plainLine(line: string, used: ReadonlySet<string>): string {
  const [, indent = "", label = "", target = ""] = definition.exec(line) ?? [];
  // A definition that nothing uses, or whose address is a word, is a text: a list of sources, a dialogue.
  if (label && (!address.test(target) || !used.has(label.toLowerCase())))
    return `${indent}\\${line.slice(indent.length)}`;
  return line
    .replace(comparison, "$1\\>")
    .replace(alert, (_, mark: string, kind: string) => `${mark}**${alerts[kind.toUpperCase()]}**`);
}

/** Labels in brackets that the text has anywhere but at the beginning of a definition. */
function labelsUsedIn(lines: string[]): Set<string> {
  const used = new Set<string>();
  for (const line of lines) {
    const from = definition.exec(line)?.[0].length ?? 0;
    for (const [, label = ""] of line.slice(from).matchAll(/\[([^\][]{1,200})\]/g)) used.add(label.toLowerCase());
  }
  return used;
}

// Lines of a formula in an environment.
const environmentAtMost = 100;

/** The line on which an environment of formulas ends that begins on line `from`; -1 if none begins there. */
function environmentEnd(lines: string[], from: number): number {
  const name = environment.exec(lines[from] ?? "")?.[1];
  if (!name) return -1;
  for (let n = from; n < Math.min(lines.length, from + environmentAtMost); n++) {
    const line = (lines[n] ?? "").trimEnd();
    if (line.endsWith(`\\end{${name}}`)) return n;
    if (line === "") return -1;
  }
  return -1;
}

// Lines of a text of Markdown in a fence: more of them, in many fences, would take quadratic time.
const fencedAtMost = 1_000;

/**
 * The mark that ends a fence. A fence of Markdown whose text has fences itself, with the same mark, gets a longer one: its inner fences
 * have a language, and a bare mark ends the innermost. The lines are changed.
 */
function outerMark(lines: string[], from: number, mark: string, info: string): string {
  if (!/^(?:markdown|md)$/i.test(info)) return mark;
  let isInside = false;
  let hasInner = false;
  for (let n = from + 1; n < Math.min(lines.length, from + fencedAtMost); n++) {
    const [, inner = "", language = ""] = fence.exec(lines[n] ?? "") ?? [];
    if (!inner.startsWith(mark)) continue;
    if (language) isInside = hasInner = true;
    else if (isInside) isInside = false;
    else if (!hasInner) return mark;
    else {
      const longer = `${mark}${mark}`;
      lines[from] = (lines[from] ?? "").replace(mark, longer);
      lines[n] = (lines[n] ?? "").replace(mark, longer);
      return longer;
    }
  }
  return mark;
}

/** Whether a line may be the rule under the head of a table. */
const isTableRule = (line = "") => /^[\s|:-]+$/.test(line) && line.includes("-");

const spans = [/(?<![\\\p{L}\p{N}$])\$(?![\s$])[^$\n]*[^\s$\\]\$(?![\p{L}\p{N}$])/gu, /(?<!`)`(?!`)[^`\n]+`(?!`)/g];

/** Escapes bars within formulas and code in the row of a table as GFM has it, since they would end the cell. */
function withEscapedBars(row: string): string {
  const escaped = (inside: string) => inside.replace(/(?<!\\)\|/g, "\\|");
  const spaced = spans.reduce((text, span) => text.replace(span, escaped), row);
  return changedBetween(spaced, "\\(", "\\)", escaped);
}
