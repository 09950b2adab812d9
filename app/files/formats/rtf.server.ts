import { decoded, encodingOf } from "../../process/text/decoding/encodings.server.ts";
import { superscript } from "./math.server.ts";
import { drawnSign, isWingdings, symbolSign } from "./symbol-font.server.ts";
import { isTelling, TextWriter } from "./text-writer.server.ts";

/**
 * State that a group takes over from the group around it. `afterUnicode`: signs after a Unicode sign that replace it in old programs;
 * `endsWith`: text that ends the group.
 */
type Group = {
  isUnread: boolean;
  isHidden: boolean;
  isAside: boolean;
  isRaised: boolean;
  isStruck: boolean;
  /** Whether the paragraph stands in a cell of a table. */
  isCell: boolean;
  isFonts: boolean;
  afterUnicode: number;
  font: string | undefined;
  place: "header" | "footer" | undefined;
  endsWith: string;
};

/** Field of a form (RTF 1.9.1, «Form Fields»): `kind` 1 is a box to tick, 2 a list of choices; a `result` of 25 stands for `usual`. */
type FormField = { kind: number; result: number; usual: number; choices: string[] };

// Groups whose text does not belong to the document: fonts, colours, styles, pictures, who wrote it, and copies for older programs.
const unread = new Set(
  "colortbl stylesheet info pict objdata objclass objname objalias objsect themedata datastore listtable listoverridetable rsidtbl generator fldinst xmlnstbl latentstyles sp shprslt nonesttables ftnsep ftnsepc aftnsep aftnsepc atrfstart atrfend atnid atnref atndate atnparent bkmkstart bkmkend".split(
    " ",
  ),
);
// Groups that older programs leave out (`\*`) and that have text of the document.
const newer = new Set(["ud", "shpinst", "do", "annotation", "footnote"]);
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
const usualResult = 25;
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

/** In place of a character set: signs of the font Symbol; those of Wingdings stand under the name of the font. */
const symbolFont = "symbol";

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
    isRaised: false,
    isStruck: false,
    isCell: false,
    isFonts: false,
    afterUnicode: 1,
    font: undefined,
    place: undefined,
    endsWith: "",
  };
  #encoding = "windows-1252";
  #usualFont: string | undefined;
  #namedFont = "";
  /** Name of the font that the font table is at, so far. */
  #named = "";
  #isStarred = false;
  /** Bytes that are not decoded yet: a sign may take two. */
  #bytes: number[] = [];
  #skip = 0;
  #cells = 0;
  /** Blank between two paragraphs of a cell, to be written before the next text. */
  #gap = "";
  /** Headers and footers of all kinds of pages, each line once. */
  readonly #asides = { header: new Set<string>(), footer: new Set<string>() };
  #asideLine = "";
  #author = "";
  #isAuthor = false;
  #form: FormField | undefined;
  #isChoice = false;

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
    else if (this.#isChoice) this.#form?.choices.push(`${this.#form.choices.pop() ?? ""}${String.fromCharCode(byte)}`);
    else if (this.#group.isFonts) this.#fontName(String.fromCharCode(byte));
  }

  get #charset(): string | undefined {
    return this.#fonts.get(this.#group.font ?? this.#usualFont ?? "");
  }

  #flush(): void {
    if (this.#bytes.length === 0) return;
    const charset = this.#charset;
    const isOwn = charset === undefined || (charset === "windows-1252" && !/^windows|gbk/.test(this.#encoding));
    const text =
      charset === symbolFont
        ? this.#bytes.map(symbolSign).join("")
        : isWingdings(charset)
          ? this.#bytes.map((byte) => (byte === 0x20 ? " " : drawnSign(byte, charset))).join("")
          : decoded(Uint8Array.from(this.#bytes), isOwn ? this.#encoding : charset);
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
      if (this.#cells > 0) this.#writer.strike(false);
      else this.#writer.words(this.#gap);
      this.#writer.text(" | ".repeat(this.#cells));
      [this.#cells, this.#gap] = [0, ""];
      if (text.trim()) this.#writer.strike(this.#group.isStruck);
      this.#writer.text(this.#group.isRaised ? superscript(text) : text);
    }
  }

  #endAside(): void {
    const line = this.#asideLine.replace(/[\s|]+$/, "").trim();
    this.#asideLine = "";
    if (this.#group.place && isTelling(line)) this.#asides[this.#group.place].add(line);
  }

  #line(): void {
    this.#cells = 0;
    if (this.#group.place) this.#endAside();
    else {
      this.#writer.strike(false);
      this.#writer.line();
    }
  }

  #paragraph(): void {
    this.#writer.strike(false);
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
      [this.#isAuthor, this.#isChoice] = [false, false];
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
    else if (/^(?:ff|formfield$)/.test(word)) this.#formWord(word, Number(number ?? 0));
    else if (unread.has(word) || (isStarred && !newer.has(word))) {
      this.#group.isUnread = true;
      this.#isAuthor = word === "atnauthor";
      if (this.#isAuthor) this.#author = "";
    } else if (word === "fonttbl") [this.#group.isFonts, this.#group.isUnread] = [true, true];
    else if (word === "ud") this.#group.isUnread = false;
    else if (!this.#group.isUnread) this.#textWord(word, number);
  }

  /** Fields of forms stand in instructions, which are not read. */
  #formWord(word: string, number: number): void {
    if (word === "formfield") this.#form = { kind: 0, result: usualResult, usual: 0, choices: [] };
    else if (!this.#form) return;
    else if (word === "fftype") this.#form.kind = number;
    else if (word === "ffres") this.#form.result = number;
    else if (word === "ffdefres") this.#form.usual = number;
    else if (word === "ffl") {
      this.#form.choices.push("");
      this.#isChoice = true;
    }
  }

  #writeAnswer(): void {
    if (!this.#form) return;
    const { kind, result, usual, choices } = this.#form;
    this.#form = undefined;
    const answer = result === usualResult ? usual : result;
    if (kind === 1) this.#write(answer === 1 ? "[marcada] " : "[sin marcar] ");
    else if (kind === 2) this.#write(decoded(Buffer.from(choices[answer] ?? "", "latin1"), this.#encoding).trim());
  }

  #unicode(code: number): void {
    const charset = this.#charset;
    const isSign = code >= 0xf000 && (charset === symbolFont || isWingdings(charset));
    this.#write(isSign ? drawnSign(code, charset === symbolFont ? "Symbol" : charset) : String.fromCharCode(code));
  }

  #fontName(letter: string): void {
    if (letter !== ";") {
      this.#named += letter;
      return;
    }
    // Before the name stand the digits of its looks (`\panose`).
    if (/^[\da-f]*Symbol$/.test(this.#named)) this.#fonts.set(this.#namedFont, symbolFont);
    const [wingdings] = /wingdings(?: 2)?$/i.exec(this.#named) ?? [];
    if (wingdings) this.#fonts.set(this.#namedFont, wingdings);
    this.#named = "";
  }

  #fontWord(word: string, number: string): void {
    this.#named = "";
    if (word === "f") this.#namedFont = number;
    const page = word === "cpg" ? number : word === "fcharset" ? charsets.get(number) : undefined;
    if (page && page !== "0") this.#fonts.set(this.#namedFont, encodingOf(page));
  }

  #textWord(word: string, number: string | undefined): void {
    const [, place] = aside.exec(word) ?? [];
    if (place === "header" || place === "footer") this.#group.place = place;
    switch (word) {
      case "uc":
        this.#group.afterUnicode = Number(number ?? 1);
        return;
      case "u":
        this.#unicode(Number(number) & 0xffff);
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
      case "fldrslt":
        this.#writeAnswer();
        return;
      case "par":
        // A cell may have several paragraphs.
        if (this.#group.isCell && !this.#group.place) this.#gap = " ";
        else {
          this.#cells = 0;
          this.#write("\n");
        }
        return;
      case "pard":
      case "intbl":
        this.#group.isCell = word === "intbl";
        return;
      case "sect":
      case "page":
        this.#cells = 0;
        this.#write("\n");
        return;
      case "line":
        if (this.#group.isCell && !this.#group.place) this.#gap = " ";
        else this.#line();
        return;
      case "cell":
      case "nestcell":
        if (this.#group.place) this.#asideLine += " | ";
        else this.#cells++;
        return;
      case "row":
      case "nestrow":
        this.#group.isCell = false;
        this.#line();
        return;
      default:
        this.#lookWord(word, number);
    }
  }

  /** The look of the text that follows, as far as it says something. */
  #lookWord(word: string, number: string | undefined): void {
    const isOn = number !== "0";
    switch (word) {
      case "f":
        this.#group.font = number;
        return;
      case "plain":
        this.#group.font = undefined;
        [this.#group.isHidden, this.#group.isRaised, this.#group.isStruck] = [false, false, false];
        return;
      case "strike":
      case "striked":
        this.#group.isStruck = isOn;
        return;
      case "super":
        this.#group.isRaised = isOn;
        return;
      case "sub":
      case "nosupersub":
        this.#group.isRaised = false;
        return;
      case "v":
      case "deleted":
        this.#group.isHidden = isOn;
        return;
      default:
        this.#encodingWord(word, number);
    }
  }

  /** Reads words for encodings, the usual font and special characters. */
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
