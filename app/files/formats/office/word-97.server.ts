import { damaged, withPassword } from "../unreadable.server.ts";

const what = "un DOC";
// A part of a document is text only if it has a letter or a digit.
const isSaid = (text: string) => /[\p{L}\p{N}]/u.test(text);

/** The text of a DOC, as Word wrote them until 2003: headers once, the body, then its notes and comments. Throws Unreadable. */
export async function oldWordText(bytes: Buffer): Promise<string> {
  const { default: WordExtractor } = await import("word-extractor");
  const document = await new WordExtractor().extract(bytes).catch((error: unknown) => {
    throw /encrypt|password/i.test(String(error)) ? withPassword() : damaged(what);
  });
  const raw = { filterUnicode: false };
  const header = document.getHeaders({ ...raw, includeFooters: false });
  const footer = document.getFooters(raw);
  const asides: [name: string, text: string][] = [
    ["Nota", document.getFootnotes(raw)],
    ["Nota al final", document.getEndnotes(raw)],
    ["Comentario", document.getAnnotations(raw)],
    ["Recuadro", document.getTextboxes(raw)],
  ];
  const parts = [
    ...new Set(linesOf(header)),
    asText(document.getBody(raw)),
    ...asides.flatMap(([name, text]) => linesOf(text).map((line) => `[${name}: ${line}]`)),
    ...new Set(linesOf(footer)),
  ];
  return parts.filter(isSaid).join("\n\n");
}

// Marks of notes, pictures and fields.
const marks = /\p{Cc}/gu;

/** Cells end in tabs, rows in two. The library writes «undefined» for hyphens that are only shown at the end of a line. */
function asText(body: string): string {
  const lines = body
    .replace(/(?<!\t)\t+\n/g, "\n")
    .replace(/\t/g, " | ")
    .replaceAll("\u001e", "-")
    .replaceAll("\u2011", "-")
    .replace(/(?<=\p{L})undefined(?=\p{Ll})/gu, "")
    .replace(marks, (mark) => (mark === "\n" ? mark : ""))
    .split("\n");
  return lines
    .map((line, index) => (isRow(line) && isRow(lines[index - 1] ?? "") ? line : `\n${line}`))
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}

const isRow = (line: string) => line.includes(" | ");

const linesOf = (text: string) =>
  asText(text)
    .split(/\n+/)
    .map((line) => line.trim())
    .filter(isSaid);
