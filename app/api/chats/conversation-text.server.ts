import { z } from "zod";
import { limits } from "../../process/limits.ts";

/**
 * Cleans a person's text: prose is trimmed, its runs of spaces and tabs become one space, its runs of blank lines become one blank line.
 * Paragraphs whose shape carries meaning, code between fences and text between code marks stay as they are.
 */
export function cleanConversationText(raw: string): string {
  const lines = raw.replaceAll("\0", "").replace(/\r\n?/g, "\n").split("\n");
  const cleaned: string[] = [];
  let follows: boolean = false;
  for (let at = 0; at < lines.length; ) {
    if (isBlank(lines[at])) {
      at++;
      continue;
    }
    const end = endOfBlock(lines, at);
    const block = lines.slice(at, end);
    // Indented lines after a paragraph with a shape, or after an item of a list, belong to it; four blanks begin code.
    const goesOn: boolean =
      isIndented(block[0]) && (follows || (cleaned.length > 0 && /^(?: {4}|\t)/.test(block[0] ?? "")));
    const isShape: boolean = fenceIn(block[0]) !== undefined || hasShape(block) || goesOn;
    if (at > 0 && isBlank(lines[at - 1]) && cleaned.length > 0) cleaned.push("");
    cleaned.push(isShape ? block.join("\n") : asProse(block.join("\n")));
    follows = isShape || isListItem(block[0]);
    at = end;
  }
  return cleaned.join("\n").trimEnd();
}

// Signs without width, such as U+200B, show nothing either.
const isBlank = (line = "") => !/[^\s\p{Cf}]/u.test(line);
const isListItem = (line = "") => /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]/.test(line);
const isIndented = (line = "") => /^[ \t]+\S/.test(line);

/** The fence that a line begins, also in a list or a quotation; undefined if it begins none. */
const fenceIn = (line = "") => /^[ \t>]{0,100}(?:(?:[-*+]|\d{1,9}[.)])[ \t]{1,100})?(`{3,}|~{3,})/.exec(line)?.[1];

/** End of the block that begins at a line: code ends at its closing fence, anything else before a blank line or a fence. */
function endOfBlock(lines: string[], begin: number): number {
  const fence = fenceIn(lines[begin]);
  let end = begin + 1;
  if (!fence) {
    while (end < lines.length && !isBlank(lines[end]) && !fenceIn(lines[end])) end++;
    return end;
  }
  const closes = (line: string) => {
    const [, marks = ""] = /^[ \t>]{0,100}(`{3,}|~{3,})[ \t]*$/.exec(line) ?? [];
    return marks.length >= fence.length && marks.startsWith(fence);
  };
  while (end < lines.length && !closes(lines[end] ?? "")) end++;
  return Math.min(end + 1, lines.length);
}

/**
 * Whether the shape of a paragraph carries meaning: a line after its first is indented (code, YAML, diffs), two of its lines hold a
 * tab between words, or runs of blanks end at one column in two of them (tables).
 */
function hasShape(lines: string[]): boolean {
  if (lines.slice(1).some(isIndented)) return true;
  if (lines.filter((line) => /\S *\t\s*\S/.test(line)).length > 1) return true;
  const columns = new Set<number>();
  for (const line of lines) {
    const own = new Set([...line.matchAll(/(?<=\S) {2,}(?=\S)/g)].map(({ index, 0: run }) => index + run.length));
    for (const column of own) {
      if (columns.has(column)) return true;
      columns.add(column);
    }
  }
  return false;
}

const blanks = /[ \t]+/g;

/** Prose with one space in place of each run of blanks, except between code marks. */
function asProse(text: string): string {
  const marks = [...text.matchAll(/`+/g)];
  // Key: length of a run of marks; value: the indexes of all runs of that length, the last one first.
  const places = new Map<number, number[]>();
  for (const [n, [run]] of [...marks.entries()].reverse()) {
    const same = places.get(run.length) ?? [];
    places.set(run.length, same);
    same.push(n);
  }
  let cleaned = "";
  let from = 0;
  for (let n = 0; n < marks.length; n++) {
    const open = marks[n];
    const same = places.get(open?.[0].length ?? 0) ?? [];
    while (same.length > 0 && (same.at(-1) ?? 0) <= n) same.pop();
    const close = marks[same.at(-1) ?? -1];
    if (!open || !close) continue;
    const end = close.index + close[0].length;
    cleaned += text.slice(from, open.index).replace(blanks, " ") + text.slice(open.index, end);
    from = end;
    n = same.at(-1) ?? n;
  }
  return (cleaned + text.slice(from).replace(blanks, " ")).trim();
}

export const unwritten = "Escribe un mensaje antes de enviarlo.";

const atMost = z
  .string()
  .max(
    limits.message,
    `El mensaje puede tener ${limits.message.toLocaleString("es")} caracteres como mucho. Acórtalo o repártelo en varios.`,
  );

/** The text of a message, which may be empty if the message has files. */
export const textBesideFiles = z.string("Falta el mensaje.").transform(cleanConversationText).pipe(atMost);

export const conversationText = textBesideFiles.pipe(z.string().min(1, unwritten));
