import { textOf } from "../../../process/text/decoding/plain.server.ts";

/** A line of iCalendar or vCard: its name and the names of its parameters in capitals, its value as it is written. */
export type ContentLine = { name: string; parameters: Record<string, string>; value: string };
/** A block between BEGIN and END, with the blocks in it. */
export type Component = { name: string; lines: ContentLine[]; components: Component[] };

// Blocks within blocks; an alarm of an event is the third.
const depthAtMost = 20;

/** The blocks of an iCalendar (RFC 5545) or vCard (RFC 6350) text. Blocks without an end end with the text. */
export function componentsOf(text: string): Component[] {
  const root: Component = { name: "", lines: [], components: [] };
  const open = [root];
  for (const line of unfolded(text)) {
    const read = contentLine(line);
    if (!read) continue;
    const inner = open.at(-1) ?? root;
    if (read.name === "BEGIN" && open.length < depthAtMost) {
      const component: Component = { name: read.value.trim().toUpperCase(), lines: [], components: [] };
      inner.components.push(component);
      open.push(component);
    } else if (read.name === "END") {
      if (open.length > 1) open.pop();
    } else inner.lines.push(read);
  }
  return root.components;
}

/** The first value of a name, with its escapes resolved; undefined if it is missing or empty. */
export function valueIn({ lines }: Component, name: string): string | undefined {
  const line = lines.find((one) => one.name === name);
  return (line && unescapedValue(line.value).trim()) || undefined;
}

/** A text value without its escapes. */
export const unescapedValue = (value: string): string =>
  value.replace(/\\([nN,;:\\])/g, (_, one: string) => (one === "n" || one === "N" ? "\n" : one));

/** The parts of a structured value, such as an address: they are separated by `;`. */
export const partsOfValue = (value: string): string[] =>
  value.split(/(?<!\\);/).map((part) => unescapedValue(part).trim());

/** The lines of a text, each of which may go on in the next one: behind a blank, or behind the `=` of quoted-printable. */
function unfolded(text: string): string[] {
  const lines: string[] = [];
  let isEncoded = false;
  let isSoft = false;
  for (const line of text.split(/\r\n|\n|\r/)) {
    const last = lines.length - 1;
    if (isSoft) lines[last] = `${lines[last]?.slice(0, -1)}${line}`;
    else if (/^[ \t]/.test(line) && last >= 0) lines[last] += line.slice(1);
    else {
      lines.push(line);
      isEncoded = isQuotedPrintable.test(line.slice(0, headAtMost));
    }
    isSoft = isEncoded && line.endsWith("=");
  }
  return lines;
}

// In characters: name and parameters of a line.
const headAtMost = 1_000;
const isQuotedPrintable = /^[^:]{0,500}[;=]quoted-printable\b/i;

/** The place of the colon before the value; -1 if there is none. A quoted parameter may have colons of its own. */
function headEnd(line: string): number {
  let isQuoted = false;
  for (let at = 0; at < line.length && at < headAtMost; at++) {
    if (line[at] === '"') isQuoted = !isQuoted;
    else if (line[at] === ":" && !isQuoted) return at;
  }
  return -1;
}

function contentLine(line: string): ContentLine | undefined {
  const end = headEnd(line);
  if (end < 1) return;
  const [first = "", ...rest] = line.slice(0, end).match(/(?:"[^"]*"|[^";])+/g) ?? [];
  const parameters: Record<string, string> = {};
  for (const parameter of rest) {
    const [, key, said = ""] = /^([\w-]{1,40})=(.*)$/s.exec(parameter) ?? [];
    // vCard 2.1 leaves out the names of parameters: «TEL;CELL».
    const named = (key ?? (/quoted-printable|base64/i.test(parameter) ? "ENCODING" : "TYPE")).toUpperCase();
    const bare = (key ? said : parameter).replaceAll('"', "").trim();
    parameters[named] = [parameters[named], bare].filter(Boolean).join(",");
  }
  const value = line.slice(end + 1);
  const isEncoded = /quoted-printable/i.test(parameters.ENCODING ?? "");
  // Phones put the name of a group before the name of the property: «item1.TEL».
  const name = first.replace(/^[\w-]{1,40}\./, "").toUpperCase();
  return { name, parameters, value: isEncoded ? unquoted(value, parameters.CHARSET) : value };
}

const unquoted = (value: string, charset: string | undefined): string => {
  const bytes = value.replace(/=([\dA-F]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  // Text that is not encoded has letters beyond Latin-1 as they are.
  return /[^\0-\xff]/.test(bytes) ? value : textOf(Buffer.from(bytes, "latin1"), charset);
};
