import { TextWriter } from "./text-writer.server.ts";

// Groups whose text is none of the document: fonts, colours, styles, pictures, who wrote it.
const unread = new Set(
  "fonttbl colortbl stylesheet info pict object themedata datastore listtable listoverridetable rsidtbl generator header footer headerl headerr footerl footerr fldinst xmlnstbl latentstyles".split(
    " ",
  ),
);
const signs: Record<string, string> = {
  emdash: "—",
  endash: "–",
  lquote: "‘",
  rquote: "’",
  ldblquote: "“",
  rdblquote: "”",
  bullet: "•",
  tab: " ",
  "~": "\u00a0",
  _: "-",
  "-": "",
};

// A control word with its number, a byte in hexadecimal, a control sign, a brace, or text (RTF 1.9.1).
const token = /\\([a-z]+)(-?\d+)? ?|\\'([0-9a-f]{2})|\\([^a-z])|([{}])|([^\\{}\r\n]+)/gi;

/** The text of an RTF. */
export function rtfText(bytes: Uint8Array): string {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  const writer = new TextWriter();
  const page = /\\ansicpg(\d+)/.exec(source)?.[1] ?? "1252";
  const decoder = decoderOf(page);
  let group = { isUnread: false, afterUnicode: 1 };
  const outer: (typeof group)[] = [];
  let skip = 0;
  for (const [, word, number, hex, sign, brace, text] of source.matchAll(token)) {
    if (brace === "{") outer.push({ ...group });
    else if (brace === "}") group = outer.pop() ?? group;
    else if (sign === "*" || (word && unread.has(word))) group.isUnread = true;
    else if (word === "uc") group.afterUnicode = Number(number ?? 1);
    else if (group.isUnread) continue;
    else if (word === "u") {
      writer.text(String.fromCharCode(Number(number) & 0xffff));
      skip = group.afterUnicode;
    } else if (hex) {
      if (skip > 0) skip--;
      else writer.text(decoder.decode(Buffer.from(hex, "hex")));
    } else if (text) {
      writer.text(text.slice(skip));
      skip = Math.max(0, skip - text.length);
    } else if (sign !== undefined) writer.text(signs[sign] ?? sign);
    else if (word) write(writer, word);
  }
  return writer.toString();
}

function write(writer: TextWriter, word: string): void {
  if (word === "par" || word === "sect" || word === "page") writer.paragraph();
  else if (word === "line") writer.line();
  else if (word === "cell" || word === "nestcell") writer.text(" | ");
  else if (word === "row" || word === "nestrow") writer.line();
  else writer.text(signs[word] ?? "");
}

function decoderOf(page: string): TextDecoder {
  try {
    return new TextDecoder(page === "65001" ? "utf-8" : `windows-${page}`);
  } catch {
    return new TextDecoder("windows-1252");
  }
}
