import { damaged, Unreadable, withPassword } from "../../unreadable.server.ts";
import type { Instance, Level, Scheme } from "../numbering.server.ts";
import { type CompoundFile, readPart } from "./compound-file.server.ts";

export const oldWord = "un DOC";

/** Properties that a paragraph or its style sets. `list`: number of its list from 1, 0 for none. */
export type ParagraphLook = {
  style: number;
  list?: number;
  level?: number;
  heading?: number;
  /** Depth of the table it stands in; 0 outside of one. */
  depth: number;
  isRowEnd: boolean;
  isInnerCellEnd: boolean;
};

/** Properties of a run of characters. `data`: place of a form's field in the data stream; `symbol`: sign that stands for the characters. */
export type CharacterLook = {
  isHidden?: boolean;
  isRaised?: boolean;
  style?: number;
  font?: string;
  symbol?: { code: number; font: string };
  data?: number;
};

/** Style of paragraphs or characters, with what it takes over from others. */
export type OldStyle = { heading?: number; list?: number; level?: number; isHidden?: boolean };

/** Part of the text, in characters: `to` is behind its last. */
export type Range = { from: number; to: number };

type Piece = Range & { place: number; width: 1 | 2 };
type Run<Look> = Range & { look: Look };
type Property = { kind: number; at: number; bytes: Buffer };

// Places of pairs of offset and length in the head of the file (MS-DOC, 2.5.6), by their order.
const tables = {
  ...{ styles: 1, footnotes: 2, footnoteTexts: 3, comments: 4, commentTexts: 5, headers: 11, characters: 12 },
  ...{
    paragraphs: 13,
    fonts: 15,
    pieces: 33,
    commentAuthors: 36,
    endnotes: 46,
    endnoteTexts: 47,
    boxes: 56,
    headerBoxes: 58,
  },
  ...{ lists: 73, listUses: 74 },
};
// The parts of the text in their order, with the places of their lengths (MS-DOC, 2.5.4).
const storyLengths = {
  body: 0x4c,
  footnotes: 0x50,
  headers: 0x54,
  macros: 0x58,
  comments: 0x5c,
  endnotes: 0x60,
  boxes: 0x64,
  headerBoxes: 0x68,
};
type Story = keyof typeof storyLengths;

const markOfWord95 = 0xa5dc;
const markOfWord97 = 0xa5ec;
const pageSize = 512;
// Of a look in its page: offset, and for paragraphs 12 bytes of height.
const paragraphEntry = 13;
const stylesBasedAtMost = 20;
const listLevels = 9;
// In bytes: the fixed parts of a list, a level and a use of a list (MS-DOC, 2.9.131, 2.9.150, 2.9.132).
const listSize = 28;
const levelSize = 28;
const useSize = 16;
const windows1252 = new TextDecoder("windows-1252");
// Formats of numbers (MS-OSHARED, 2.2.1.3) as later documents name them.
const numberFormats = new Map([
  [1, "upperRoman"],
  [2, "lowerRoman"],
  [3, "upperLetter"],
  [4, "lowerLetter"],
  [5, "ordinal"],
  [6, "cardinalText"],
  [7, "ordinalText"],
  [22, "decimalZero"],
  [23, "bullet"],
  [255, "none"],
]);

/** A DOC, as Word wrote them from 97 to 2003 (MS-DOC): its text, and how each part of it looks. Reading beyond the end throws RangeError. */
export class OldWordFile {
  readonly #main: Buffer;
  readonly #table: Buffer;
  readonly data: Buffer;
  readonly #pieces: Piece[];
  readonly #paragraphs: Run<ParagraphLook>[];
  readonly #characters: Run<CharacterLook>[];
  readonly #fonts: string[];
  readonly text: string;

  constructor(streams: CompoundFile) {
    this.#main = streams.get("WordDocument") ?? Buffer.alloc(0);
    const flags = this.#main.readUInt16LE(0x0a);
    const mark = this.#main.readUInt16LE(0);
    if (mark === markOfWord95)
      throw new Unreadable("es de un Word anterior al 97. Guárdalo como DOCX y vuelve a subirlo.");
    if (mark !== markOfWord97) throw damaged(oldWord);
    if (flags & 0x100) throw withPassword();
    this.#table = streams.get(flags & 0x200 ? "1Table" : "0Table") ?? Buffer.alloc(0);
    this.data = streams.get("Data") ?? Buffer.alloc(0);
    this.#pieces = this.#readPieces();
    this.text = this.#pieces.map((piece) => this.#textOf(piece)).join("");
    this.#fonts = readPart(() => this.#readFonts(), []);
    this.#characters = this.#readRuns(tables.characters, 1, (bytes) =>
      this.#characterLook(bytes, 1, bytes.readUInt8(0)),
    );
    this.#paragraphs = this.#readRuns(tables.paragraphs, paragraphEntry, (bytes) => {
      const words = bytes.readUInt8(0);
      const from = words === 0 ? 2 : 1;
      return this.#paragraphLook(bytes, from, words === 0 ? 2 * bytes.readUInt8(1) : 2 * words - 1);
    });
  }

  /** Part of the text that holds the body, the notes and so on. */
  story(name: Story): Range {
    let from = 0;
    for (const [story, at] of Object.entries(storyLengths)) {
      const length = this.#main.readUInt32LE(at);
      if (story === name) return { from, to: Math.min(from + length, this.text.length) };
      from += length;
    }
    return { from, to: from };
  }

  /** Look of the paragraph that a character belongs to, and whether the paragraph ends with it. */
  paragraphAt(at: number): { look: ParagraphLook; isLast: boolean } {
    const { place, width } = this.#placeOf(at);
    const run = runAt(this.#paragraphs, place);
    return { look: run?.look ?? plainParagraph, isLast: run !== undefined && run.to <= place + width };
  }

  characterAt(at: number): CharacterLook {
    return runAt(this.#characters, this.#placeOf(at).place)?.look ?? {};
  }

  /** Notes or comments: the place at which each is called, and its part of the text. */
  notes(kind: "footnotes" | "endnotes" | "comments"): { at: number; text: Range; author: string }[] {
    const dataSize = { footnotes: 2, endnotes: 2, comments: 30 }[kind];
    const texts = { footnotes: tables.footnoteTexts, endnotes: tables.endnoteTexts, comments: tables.commentTexts }[
      kind
    ];
    const references = this.#tableAt(tables[kind]);
    const ranges = this.#ranges(texts, kind, 0);
    const count = Math.max(0, Math.floor((references.length - 4) / (4 + dataSize)));
    const authors = kind === "comments" ? readPart(() => this.#authors(), []) : [];
    return Array.from({ length: Math.min(count, ranges.length) }, (_, n) => ({
      at: references.readUInt32LE(4 * n),
      text: ranges[n] ?? { from: 0, to: 0 },
      author: (kind === "comments" && authors[references.readUInt16LE(4 * (count + 1) + dataSize * n + 20)]) || "",
    }));
  }

  /** Headers and footers: six for each section, after six separators of notes. */
  headers(): Range[] {
    return this.#ranges(tables.headers, "headers", 0);
  }

  boxes(story: "boxes" | "headerBoxes"): Range[] {
    return this.#ranges(tables[story], story, 22);
  }

  /** The styles by their numbers. */
  styles(): OldStyle[] {
    const sheet = this.#tableAt(tables.styles);
    if (sheet.length === 0) return [];
    const baseSize = sheet.readUInt16LE(4);
    const own: (OldStyle & { base: number })[] = [];
    let at = 2 + sheet.readUInt16LE(0);
    for (let left = sheet.readUInt16LE(2); left > 0 && at + 2 <= sheet.length; left--) {
      const size = sheet.readUInt16LE(at);
      own.push(size === 0 ? { base: noStyle } : this.#styleIn(sheet.subarray(at + 2, at + 2 + size), baseSize));
      at += 2 + size;
    }
    return own.map((_, number) => {
      const whole: OldStyle = {};
      let from = number;
      for (let count = 0; count < stylesBasedAtMost; count++) {
        const style = own[from];
        if (!style) break;
        const { base, ...properties } = style;
        Object.assign(whole, { ...properties, ...whole });
        from = base;
      }
      return whole;
    });
  }

  /** The lists of the document, and the uses of them that paragraphs refer to, from 1. */
  lists(): { schemes: Map<string, Scheme>; instances: Map<string, Instance> } {
    const schemes = new Map<string, Scheme>();
    const instances = new Map<string, Instance>();
    const { offset, length } = this.#locate(tables.lists);
    if (length > 0) {
      const count = this.#table.readUInt16LE(offset);
      let at = offset + length;
      for (let n = 0; n < count; n++) {
        const list = offset + 2 + listSize * n;
        const isSimple = this.#table.readUInt8(list + 26) & 1;
        const levels = new Map<number, Level>();
        for (let level = 0; level < (isSimple ? 1 : listLevels); level++) {
          const read = this.#levelAt(at);
          levels.set(level, read.level);
          at = read.end;
        }
        schemes.set(String(this.#table.readInt32LE(list)), { levels, styleLink: undefined });
      }
      for (const [n, use] of this.#listUses().entries()) instances.set(String(n + 1), use);
    }
    return { schemes, instances };
  }

  #listUses(): Instance[] {
    const { offset, length } = this.#locate(tables.listUses);
    const count = length > 0 ? this.#table.readUInt32LE(offset) : 0;
    let at = offset + 4 + useSize * count;
    return Array.from({ length: Math.min(count, Math.floor(length / useSize)) }, (_, n) => {
      const use = offset + 4 + useSize * n;
      const levels = new Map<number, Level>();
      const starts = new Map<number, number>();
      at += 4;
      for (let left = this.#table.readUInt8(use + 12); left > 0; left--) {
        const flags = this.#table.readUInt32LE(at + 4);
        if (flags & 16) starts.set(flags & 15, this.#table.readInt32LE(at));
        at += 8;
        if (!(flags & 32)) continue;
        const read = this.#levelAt(at);
        levels.set(flags & 15, read.level);
        at = read.end;
      }
      return { scheme: String(this.#table.readInt32LE(use)), levels, starts };
    });
  }

  #levelAt(at: number): { level: Level; end: number } {
    const table = this.#table;
    const flags = table.readUInt8(at + 5);
    const text = at + levelSize + table.readUInt8(at + 24) + table.readUInt8(at + 25);
    const end = text + 2 + 2 * table.readUInt16LE(text);
    return {
      level: {
        start: table.readInt32LE(at),
        format: numberFormats.get(table.readUInt8(at + 4)) ?? "decimal",
        // The number of a level stands for that level's number.
        text: table
          .toString("utf16le", text + 2, end)
          .replace(/\p{Cc}/gu, (sign) => (sign.charCodeAt(0) < listLevels ? `%${sign.charCodeAt(0) + 1}` : "")),
        isLegal: (flags & 4) !== 0,
        style: undefined,
      },
      end,
    };
  }

  #styleIn(style: Buffer, baseSize: number): OldStyle & { base: number } {
    const kind = style.readUInt16LE(2) & 15;
    const builtIn = style.readUInt16LE(0) & 0xfff;
    const found: OldStyle & { base: number } = { base: style.readUInt16LE(2) >> 4 };
    if (kind === 1 && builtIn >= 1 && builtIn <= 9) found.heading = builtIn;
    if (kind === 1 && builtIn === titleStyle) found.heading = 1;
    let at = baseSize + 2 + 2 * style.readUInt16LE(baseSize) + 2;
    // A style of paragraphs has their properties, then those of its characters.
    for (const part of kind === 1 ? ["paragraph", "character"] : ["character"]) {
      if (at + 2 > style.length) break;
      const size = style.readUInt16LE(at);
      if (part === "paragraph" && size >= 2) {
        const { list, level, heading } = this.#paragraphLook(style, at + 2, size);
        if (list !== undefined) found.list = list;
        if (level !== undefined) found.level = level;
        if (heading !== undefined) found.heading = heading;
      } else if (part === "character") {
        const { isHidden } = this.#characterLook(style, at + 2, size);
        if (isHidden !== undefined) found.isHidden = isHidden;
      }
      at += 2 + size + (size % 2);
    }
    return found;
  }

  #paragraphLook(bytes: Buffer, from: number, size: number): ParagraphLook {
    const look: ParagraphLook = { ...plainParagraph, style: bytes.readUInt16LE(from) };
    let isInTable = false;
    for (const { kind, at, bytes: held } of this.#properties(bytes, from + 2, from + size)) {
      if (kind === 0x460b) look.list = held.readUInt16LE(at) % 2047;
      else if (kind === 0x260a) look.level = held.readUInt8(at);
      else if (kind === 0x2640 && held.readUInt8(at) < 9) look.heading = held.readUInt8(at) + 1;
      else if (kind === 0x2416) isInTable = held.readUInt8(at) === 1;
      else if (kind === 0x6649) look.depth = held.readInt32LE(at);
      else if (kind === 0x2417 || kind === 0x244c) look.isRowEnd ||= held.readUInt8(at) === 1;
      else if (kind === 0x244b) look.isInnerCellEnd = held.readUInt8(at) === 1;
    }
    if (isInTable) look.depth = Math.max(1, look.depth);
    return look;
  }

  #characterLook(bytes: Buffer, from: number, size: number): CharacterLook {
    const look: CharacterLook = {};
    for (const { kind, at, bytes: held } of this.#properties(bytes, from, from + size)) {
      // Deleted in a tracked change, and hidden.
      if (kind === 0x0800 || kind === 0x083c) look.isHidden = held.readUInt8(at) % 128 === 1 || look.isHidden === true;
      else if (kind === 0x2a48) look.isRaised = held.readUInt8(at) === 1;
      else if (kind === 0x4a30) look.style = held.readUInt16LE(at);
      else if (kind === 0x6a03) look.data = held.readUInt32LE(at);
      else if (kind === 0x4a4f) look.font = this.#fonts[held.readUInt16LE(at)] ?? "";
      else if (kind === 0x6a09) {
        look.symbol = { code: held.readUInt16LE(at + 2), font: this.#fonts[held.readUInt16LE(at)] ?? "" };
      }
    }
    return look;
  }

  /** Properties, each a kind with a value whose size is told by the kind (MS-DOC, 2.2.5.1). */
  *#properties(bytes: Buffer, from: number, to: number): Generator<Property> {
    for (let at = from; at + 3 <= to; ) {
      const kind = bytes.readUInt16LE(at);
      at += 2;
      // More properties than there is room for stand in the data stream.
      if (kind === 0x6646 || kind === 0x6645) {
        const more = bytes.readUInt32LE(at);
        if (bytes !== this.data) yield* this.#properties(this.data, more + 2, more + 2 + this.data.readUInt16LE(more));
      } else yield { kind, at, bytes };
      const size = valueSizes[kind >> 13] ?? (kind === 0xd608 ? bytes.readUInt16LE(at) + 1 : bytes.readUInt8(at) + 1);
      at += size;
    }
  }

  /** Looks of characters or paragraphs, in pages of the main stream: by place in that stream. */
  #readRuns<Look>(table: number, entrySize: number, read: (bytes: Buffer) => Look): Run<Look>[] {
    const places = this.#tableAt(table);
    const count = Math.max(0, Math.floor((places.length - 4) / 8));
    const pages = new Set(
      Array.from({ length: count }, (_, n) => places.readUInt32LE(4 * (count + 1) + 4 * n) & 0x3fffff),
    );
    const runs: Run<Look>[] = [];
    for (const page of pages) {
      const bytes = this.#main.subarray(page * pageSize, (page + 1) * pageSize);
      const runsHere = bytes.at(pageSize - 1) ?? 0;
      for (let n = 0; n < runsHere; n++) {
        const run = readPart(() => {
          const offset = 2 * bytes.readUInt8(4 * (runsHere + 1) + entrySize * n);
          if (offset === 0) return undefined;
          return {
            from: bytes.readUInt32LE(4 * n),
            to: bytes.readUInt32LE(4 * n + 4),
            look: read(bytes.subarray(offset)),
          };
        }, undefined);
        if (run) runs.push(run);
      }
    }
    return runs.sort((one, other) => one.from - other.from);
  }

  #readPieces(): Piece[] {
    const clx = this.#tableAt(tables.pieces);
    let at = 0;
    while (clx.readUInt8(at) === 1) at += 3 + clx.readUInt16LE(at + 1);
    const count = Math.floor((clx.readUInt32LE(at + 1) - 4) / 12);
    const starts = at + 5;
    const pieces = Array.from({ length: Math.min(count, Math.floor(clx.length / 12)) }, (_, n): Piece => {
      const coded = clx.readUInt32LE(starts + 4 * (count + 1) + 8 * n + 2);
      const isNarrow = (coded & 0x40000000) !== 0;
      const place = coded & 0x3fffffff;
      return {
        from: clx.readUInt32LE(starts + 4 * n),
        to: clx.readUInt32LE(starts + 4 * n + 4),
        place: isNarrow ? place / 2 : place,
        width: isNarrow ? 1 : 2,
      };
    });
    // Pieces of a whole file don't overlap, and follow each other.
    const long = pieces.reduce((sum, { from, to, width }) => sum + width * Math.max(0, to - from), 0);
    const isWhole = pieces.every(({ from, to }, n) => from === (pieces[n - 1]?.to ?? 0) && to >= from);
    if (!isWhole || long > this.#main.length) throw damaged(oldWord);
    return pieces;
  }

  #textOf({ from, to, place, width }: Piece): string {
    const bytes = this.#main.subarray(place, place + width * (to - from));
    const text = width === 1 ? windows1252.decode(bytes) : bytes.toString("utf16le");
    return text.padEnd(to - from, "\0");
  }

  #readFonts(): string[] {
    const table = this.#tableAt(tables.fonts);
    const fonts: string[] = [];
    for (let at = 4; at < table.length; at += 1 + table.readUInt8(at)) {
      const [name = ""] = table.toString("utf16le", at + 40, at + 1 + table.readUInt8(at)).split("\0");
      fonts.push(name);
    }
    return fonts;
  }

  #authors(): string[] {
    const table = this.#tableAt(tables.commentAuthors);
    const authors: string[] = [];
    for (let at = 0; at + 2 <= table.length; ) {
      const end = at + 2 + 2 * table.readUInt16LE(at);
      authors.push(table.toString("utf16le", at + 2, end));
      at = end;
    }
    return authors;
  }

  /** Ranges of a story, from a table of positions (PLC, [MS-DOC] 2.2.2). `dataSize`: bytes of data that the table has for each range. */
  #ranges(table: number, story: Story, dataSize: number): Range[] {
    const places = this.#tableAt(table);
    const { from, to } = this.story(story);
    const count = Math.max(0, Math.floor((places.length - 4) / (4 + dataSize)));
    // Parts follow each other, so that together they are no longer than the story.
    let last = from + (count > 0 ? places.readUInt32LE(0) : 0);
    return Array.from({ length: count }, (_, n) => {
      const part = { from: last, to: Math.max(last, Math.min(to, from + places.readUInt32LE(4 * n + 4))) };
      last = part.to;
      return part;
    });
  }

  #locate(table: number): { offset: number; length: number } {
    const at = 0x9a + 8 * table;
    return { offset: this.#main.readUInt32LE(at), length: this.#main.readUInt32LE(at + 4) };
  }

  #tableAt(table: number): Buffer {
    const { offset, length } = this.#locate(table);
    return this.#table.subarray(offset, offset + length);
  }

  /** Place of a character in the main stream. */
  #placeOf(at: number): { place: number; width: number } {
    const piece = runAt(this.#pieces, at);
    return piece
      ? { place: piece.place + piece.width * (at - piece.from), width: piece.width }
      : { place: 0, width: 1 };
  }
}

const noStyle = 0xfff;
const titleStyle = 62;
const plainParagraph: ParagraphLook = { style: 0, depth: 0, isRowEnd: false, isInnerCellEnd: false };
// In bytes, by the last three bits of a property's kind; those of the seventh kind say their size themselves.
const valueSizes = [1, 1, 2, 4, 2, 2, undefined, 3];

/** The range of sorted ones that holds a place. */
function runAt<One extends Range>(runs: One[], place: number): One | undefined {
  let low = 0;
  let high = runs.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const run = runs[middle];
    if (!run) return undefined;
    if (place < run.from) high = middle - 1;
    else if (place >= run.to) low = middle + 1;
    else return run;
  }
  return undefined;
}
