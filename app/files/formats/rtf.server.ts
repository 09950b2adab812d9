import { decoded, encodingOf } from "./encodings.server.ts";
import { TextWriter } from "./text-writer.server.ts";

/**
 * State that a group takes over from the group around it. `afterUnicode`: signs after a Unicode sign that replace it in old programs;
 * `endsWith`: text that ends the group.
 */
type Group = {
  isUnread: boolean;
  isHidden: boolean;
  isAside: boolean;
  isFonts: boolean;
  afterUnicode: number;
  font: string | undefined;
  place: "header" | "footer" | undefined;
  endsWith: string;
};

// Groups whose text does not belong to the document: fonts, colours, styles, pictures, who wrote it, and copies for older programs.
const unread = new Set(
  "colortbl stylesheet info pict objdata objclass objname objalias objsect themedata datastore listtable listoverridetable rsidtbl generator fldinst xmlnstbl latentstyles sp shprslt nonesttables ftnsep ftnsepc aftnsep aftnsepc atrfstart atrfend atnid atnref atndate atnparent bkmkstart bkmkend".split(
    " ",
  ),
);
// Groups that older programs leave out (`\*`) and that have text of the document.
const newer = new Set(["ud", "shpinst", "do", "annotation"]);
const signs = new Map(
  Object.entries({
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
  }),
);
const aside = /^(header|footer)[lrf]?$/;
// Code pages of the character sets of fonts (RTF 1.9.1, `\fcharset`); 1 is the document's own.
const charsets = new Map(
  Object.entries({
    "0": "1252",
    "77": "10000",
    "128": "932",
    "129": "949",
    "134": "936",
    "136": "950",
    "161": "1253",
    "162": "1254",
    "163": "1258",
    "177": "1255",
    "178": "1256",
    "186": "1257",
    "204": "1251",
    "222": "874",
    "238": "1250",
    "255": "437",
  }),
);

// A control word with its number, a byte in hexadecimal, a control sign, a brace, or text (RTF 1.9.1).
const token = /\\([a-z]+)(-?\d+)? ?|\\'([0-9a-f]{2})|\\([^a-z])|([{}])|([^\\{}\r\n]+)/gi;

/** The text of an RTF. */
export function rtfText(bytes: Uint8Array): string {
  return new Rtf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1")).text();
}

class Rtf {
  readonly #source: string;
  readonly #writer = new TextWriter();
  readonly #outer: Group[] = [];
  readonly #fonts = new Map<string, string>();
  #group: Group = {
    isUnread: false,
    isHidden: false,
    isAside: false,
    isFonts: false,
    afterUnicode: 1,
    font: undefined,
    place: undefined,
    endsWith: "",
  };
  #encoding = "windows-1252";
  #usualFont: string | undefined;
  #namedFont = "";
  #isStarred = false;
  /** Bytes that are not decoded yet: a sign may take two. */
  #bytes: number[] = [];
  #skip = 0;
  #cells = 0;
  /** Headers and footers of all kinds of pages, each line once. */
  readonly #asides = { header: new Set<string>(), footer: new Set<string>() };
  #asideLine = "";
  #author = "";
  #isAuthor = false;

  constructor(source: string) {
    this.#source = source;
  }

  text(): string {
    token.lastIndex = 0;
    for (let found = token.exec(this.#source); found; found = token.exec(this.#source)) {
      const [, word, number, hex, sign, brace, text] = found;
      if (hex) this.#byte(Number.parseInt(hex, 16));
      else if (text) for (const letter of text) this.#byte(letter.charCodeAt(0));
      else {
        this.#flush();
        if (brace) this.#brace(brace);
        else if (sign === "*") this.#isStarred = true;
        else if (sign !== undefined) this.#write(signs.get(sign) ?? (/[\r\n]/.test(sign) ? "\n" : sign));
        else if (word === "bin") token.lastIndex += Math.max(0, Number(number ?? 0));
        else if (word) this.#word(word, number);
      }
    }
    this.#flush();
    const { header, footer } = this.#asides;
    return [...header, this.#writer.toString(), ...footer].filter(Boolean).join("\n\n");
  }

  #byte(byte: number): void {
    if (this.#skip > 0) this.#skip--;
    else if (!this.#group.isUnread) this.#bytes.push(byte);
    else if (this.#isAuthor) this.#author += String.fromCharCode(byte);
  }

  #flush(): void {
    if (this.#bytes.length === 0) return;
    const charset = this.#fonts.get(this.#group.font ?? this.#usualFont ?? "");
    const isOwn = charset === undefined || (charset === "windows-1252" && !/^windows|gbk/.test(this.#encoding));
    const text = decoded(Uint8Array.from(this.#bytes), isOwn ? this.#encoding : charset);
    this.#bytes = [];
    this.#write(text);
  }

  #write(text: string): void {
    if (this.#group.isUnread || this.#group.isHidden || !text) return;
    if (this.#group.place) {
      if (text !== "\n") this.#asideLine += text;
      else this.#endAside();
    } else if (text === "\n") this.#paragraph();
    else {
      this.#writer.text(" | ".repeat(this.#cells));
      this.#cells = 0;
      this.#writer.text(text);
    }
  }

  #endAside(): void {
    const line = this.#asideLine.replace(/[\s|]+$/, "").trim();
    this.#asideLine = "";
    if (this.#group.place && /\p{L}/u.test(line)) this.#asides[this.#group.place].add(line);
  }

  #line(): void {
    this.#cells = 0;
    if (this.#group.place) this.#endAside();
    else this.#writer.line();
  }

  #paragraph(): void {
    if (this.#group.isAside) this.#writer.words(" ");
    else this.#writer.paragraph();
  }

  #brace(brace: string): void {
    this.#skip = 0;
    this.#isStarred = false;
    if (brace === "{") {
      this.#outer.push(this.#group);
      this.#group = { ...this.#group, endsWith: "" };
    } else {
      this.#write(this.#group.endsWith);
      this.#isAuthor = false;
      if (this.#group.place && !this.#outer.at(-1)?.place) this.#endAside();
      this.#group = this.#outer.pop() ?? this.#group;
    }
  }

  #word(word: string, number: string | undefined): void {
    const isStarred = this.#isStarred;
    this.#isStarred = false;
    if (this.#skip > 0) {
      this.#skip--;
      return;
    }
    if (this.#group.isFonts) this.#fontWord(word, number ?? "0");
    else if (unread.has(word) || (isStarred && !newer.has(word))) {
      this.#group.isUnread = true;
      this.#isAuthor = word === "atnauthor";
      if (this.#isAuthor) this.#author = "";
    } else if (word === "fonttbl") [this.#group.isFonts, this.#group.isUnread] = [true, true];
    else if (word === "ud") this.#group.isUnread = false;
    else if (!this.#group.isUnread) this.#textWord(word, number);
  }

  #fontWord(word: string, number: string): void {
    if (word === "f") this.#namedFont = number;
    const page = word === "cpg" ? number : word === "fcharset" ? charsets.get(number) : undefined;
    if (page && page !== "0") this.#fonts.set(this.#namedFont, encodingOf(page));
  }

  #textWord(word: string, number: string | undefined): void {
    const isOn = number !== "0";
    const [, place] = aside.exec(word) ?? [];
    if (place === "header" || place === "footer") this.#group.place = place;
    switch (word) {
      case "f":
        this.#group.font = number;
        return;
      case "plain":
        this.#group.font = undefined;
        this.#group.isHidden = false;
        return;
      case "v":
      case "deleted":
        this.#group.isHidden = isOn;
        return;
      case "uc":
        this.#group.afterUnicode = Number(number ?? 1);
        return;
      case "u":
        this.#write(String.fromCharCode(Number(number) & 0xffff));
        this.#skip = this.#group.afterUnicode;
        return;
      case "upr":
        // Its first group is for programs without Unicode; the second, `\ud`, has the text.
        this.#group.isUnread = true;
        return;
      case "footnote":
      case "annotation":
        this.#write(word === "footnote" ? " [nota: " : ` [comentario${this.#author && ` de ${this.#author.trim()}`}: `);
        [this.#group.isAside, this.#group.endsWith] = [true, "] "];
        return;
      case "par":
      case "sect":
      case "page":
        this.#cells = 0;
        this.#write("\n");
        return;
      case "line":
        this.#line();
        return;
      case "cell":
      case "nestcell":
        if (this.#group.place) this.#asideLine += " | ";
        else this.#cells++;
        return;
      case "row":
      case "nestrow":
        this.#line();
        return;
      default:
        this.#encodingWord(word, number);
    }
  }

  /** Encodings of the document, and signs. */
  #encodingWord(word: string, number: string | undefined): void {
    switch (word) {
      case "ansicpg":
        this.#encoding = encodingOf(number ?? "1252");
        return;
      case "mac":
        this.#encoding = "macintosh";
        return;
      case "pc":
        this.#encoding = "cp437";
        return;
      case "pca":
        this.#encoding = "cp850";
        return;
      case "deff":
        this.#usualFont = number;
        return;
      default:
        this.#write(signs.get(word) ?? "");
    }
  }
}
