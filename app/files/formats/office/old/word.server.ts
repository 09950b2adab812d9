import { superscript } from "../../math.server.ts";
import { drawnSign } from "../../symbol-font.server.ts";
import { isTelling, TextWriter } from "../../text-writer.server.ts";
import { damaged, Unreadable } from "../../unreadable.server.ts";
import { Numbering } from "../numbering.server.ts";
import { openCompoundFile, readPart } from "./compound-file.server.ts";
import { objectsIn } from "./embedded-objects.server.ts";
import {
  type CharacterLook,
  type OldStyle,
  OldWordFile,
  oldWord,
  type ParagraphLook,
  type Range,
} from "./word-file.server.ts";

/** The text of a DOC, as Word wrote them from 97 to 2003: headers once, the body with its notes, then boxes and charts. Throws Unreadable. */
export async function oldWordText(bytes: Buffer): Promise<string> {
  try {
    const streams = await openCompoundFile(bytes);
    const file = new OldWordFile(streams);
    const reader = new Reader(file);
    const objects = await objectsIn(streams);
    return [...reader.headers(), reader.body(), ...reader.boxes(), ...objects, ...reader.footers()]
      .filter(Boolean)
      .join("\n\n");
  } catch (error) {
    // The library throws plain errors, a place beyond the end is a RangeError.
    throw error instanceof Unreadable ? error : damaged(oldWord);
  }
}

// Characters whose sign depends on the font.
const firstOfSymbols = "\uf000";
const lastOfSymbols = "\uf0ff";

class Reader {
  readonly #file: OldWordFile;
  readonly #styles: OldStyle[];
  readonly #numbering: Numbering;

  constructor(file: OldWordFile) {
    this.#file = file;
    this.#styles = readPart(() => file.styles(), []);
    this.#numbering = new Numbering(readPart(() => file.lists(), { schemes: new Map(), instances: new Map() }));
  }

  body(): string {
    const notes = new Map<number, string>();
    for (const kind of ["footnotes", "endnotes", "comments"] as const) {
      for (const { at, text, author } of readPart(() => this.#file.notes(kind), [])) {
        const name = kind === "comments" ? `comentario${author && ` de ${author}`}` : "nota";
        const said = this.#textOf(text).replace(/\s+/g, " ").trim();
        if (said) notes.set(at, `${notes.get(at) ?? ""} [${name}: ${said}] `);
      }
    }
    return this.#textOf(this.#file.story("body"), notes);
  }

  boxes(): string[] {
    const kinds = ["boxes", "headerBoxes"] as const;
    return kinds.flatMap((kind) => readPart(() => this.#file.boxes(kind), [])).map((box) => this.#textOf(box));
  }

  headers(): string[] {
    return this.#asides([0, 1, 4]);
  }

  footers(): string[] {
    return this.#asides([2, 3, 5]);
  }

  /** Headers or footers, each once, though it stands on every page. */
  #asides(kinds: number[]): string[] {
    const ranges = readPart(() => this.#file.headers(), []).slice(6);
    const texts = ranges.filter((_, n) => kinds.includes(n % 6)).map((range) => this.#textOf(range));
    return [...new Set(texts)].filter(isTelling);
  }

  #textOf(range: Range, notes = new Map<number, string>()): string {
    return new StoryWriter(this.#file, this.#styles, this.#numbering, notes).write(range);
  }
}

/** Writes one part of the text: the body, a note, a header. */
class StoryWriter {
  readonly #file: OldWordFile;
  readonly #styles: OldStyle[];
  readonly #numbering: Numbering;
  readonly #notes: Map<number, string>;
  readonly #writer = new TextWriter();
  /** Open fields: true while a field's instruction is read, which is not shown; false while its result is read. */
  #fields: boolean[] = [];
  #look: ParagraphLook | undefined;
  #isBegun = false;
  #wasItem = false;
  #isTable = false;
  #isRow = false;
  #isCell = false;

  constructor(file: OldWordFile, styles: OldStyle[], numbering: Numbering, notes: Map<number, string>) {
    this.#file = file;
    this.#styles = styles;
    this.#numbering = numbering;
    this.#notes = notes;
  }

  write({ from, to }: Range): string {
    for (let at = from; at < to; at++) {
      this.#look ??= this.#file.paragraphAt(at).look;
      const note = this.#notes.get(at);
      const sign = this.#file.text.charAt(at);
      const look = this.#file.characterAt(at);
      const isHidden = this.#isHidden(look);
      if (isEnd(sign, () => this.#file.paragraphAt(at).isLast)) this.#end(sign, isHidden);
      else if (!isHidden) this.#character(sign, look);
      if (note) this.#say(note);
    }
    return this.#writer.toString();
  }

  #isHidden({ isHidden, style }: CharacterLook): boolean {
    if (isHidden !== undefined) return isHidden;
    const styles = [style, this.#look?.style].map((number) => this.#styles[number ?? -1]);
    return styles.some((one) => one?.isHidden === true);
  }

  #character(sign: string, { symbol, font, data, isRaised }: CharacterLook): void {
    if (sign === "\u0013") this.#fields.push(true);
    else if (sign === "\u0014") this.#fields.splice(-1, 1, false);
    else if (sign === "\u0015") this.#fields.pop();
    else if (sign === "\u0001" && this.#fields.length > 0 && data !== undefined)
      this.#say(
        readPart(() => answerOf(this.#file.data, data), ""),
        true,
      );
    else if (symbol) this.#say(drawnSign(symbol.code, symbol.font));
    else if (sign === "\v" || sign === "\f" || sign === "\u000e") {
      if (this.#isBegun) this.#writer.line();
    } else if (sign === "\t") this.#say(" ");
    else if (sign === "\u001e") this.#say("-");
    else if (sign >= firstOfSymbols && sign <= lastOfSymbols) this.#say(drawnSign(sign.charCodeAt(0), font));
    else if (sign >= " ") this.#say(isRaised ? superscript(sign) : sign);
  }

  /** `isAnswer`: of a form's field, which stands in its instruction. */
  #say(text: string, isAnswer = false): void {
    if (text === "" || (!isAnswer && this.#fields.includes(true))) return;
    this.#begin();
    this.#writer.words(text);
  }

  /** Begins the line of a paragraph, with its mark or number. */
  #begin(): void {
    if (this.#isBegun || !this.#look) return;
    this.#isBegun = true;
    const { depth, style } = this.#look;
    const inherited = this.#styles[style];
    const heading = this.#look.heading ?? inherited?.heading;
    const list = this.#look.list ?? inherited?.list ?? 0;
    const mark = list === 0 ? "" : this.#numbering.next(String(list), this.#look.level ?? inherited?.level ?? 0);
    const isItem = mark !== "" && !heading;
    if (depth > 0) this.#beginInCell();
    else this.#endTable();
    if (depth > 0) this.#writer.line();
    else if (heading) this.#writer.heading(heading);
    else if (isItem && this.#wasItem) this.#writer.line();
    else this.#writer.paragraph();
    this.#wasItem = isItem;
    if (mark) this.#writer.mark(mark);
  }

  #beginInCell(): void {
    if (!this.#isRow) this.#writer.row();
    if (!this.#isCell) this.#writer.cell();
    this.#isTable = true;
    this.#isRow = true;
    this.#isCell = true;
  }

  #endTable(): void {
    if (this.#isTable) this.#writer.endTable();
    this.#isTable = false;
    this.#isRow = false;
    this.#isCell = false;
  }

  /** Ends a paragraph, a cell or a row. */
  #end(sign: string, isHidden: boolean): void {
    const { depth, isRowEnd, isInnerCellEnd } = this.#look ?? { depth: 0, isRowEnd: false, isInnerCellEnd: false };
    if (isRowEnd) {
      if (depth === 1) this.#isRow = false;
      if (depth === 1) this.#isCell = false;
    } else {
      if (!isHidden) this.#begin();
      if (isInnerCellEnd) this.#writer.words("; ");
      if (sign === "\u0007" && depth === 1) this.#isCell = false;
    }
    if (depth === 0) this.#fields = this.#fields.map(() => false);
    this.#look = undefined;
    this.#isBegun = false;
  }
}

const isEnd = (sign: string, isLast: () => boolean) =>
  sign === "\r" || sign === "\u0007" || (sign === "\f" && isLast());

/** Answer that is ticked or chosen in a field of a form, which keeps it in the data stream (MS-DOC, 2.9.78). */
function answerOf(data: Buffer, place: number): string {
  const field = place + data.readUInt16LE(place + 4);
  if (data.readUInt32LE(field) !== 0xffffffff) return "";
  const flags = data.readUInt16LE(field + 4);
  const kind = flags & 3;
  let at = field + 10;
  // A text ends in a zero that its length does not count.
  const skipText = () => {
    at += 2 + 2 * data.readUInt16LE(at) + 2;
  };
  skipText();
  if (kind === 0) return "";
  const usual = data.readUInt16LE(at);
  const result = (flags >> 2) & 31;
  const chosen = result === 25 ? usual : result;
  if (kind === 1) return chosen === 1 ? "[marcada] " : "[sin marcar] ";
  at += 2;
  for (let text = 0; text < 5; text++) skipText();
  const count = data.readUInt16LE(at + 2);
  at += 6;
  for (let entry = 0; entry < Math.min(count, chosen); entry++) at += 2 + 2 * data.readUInt16LE(at);
  return chosen < count ? data.toString("utf16le", at + 2, at + 2 + 2 * data.readUInt16LE(at)) : "";
}
