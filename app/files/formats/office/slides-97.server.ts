import { damaged, Unreadable, withPassword } from "../unreadable.server.ts";

const what = "un PPT";

/** A record of a PowerPoint file (MS-PPT, 2.3.1): `from` and `to` are where its content stands. */
type PptRecord = { type: number; instance: number; isContainer: boolean; from: number; to: number };

// Types of records (MS-PPT, 2.13.24; MS-ODRAW for the text of shapes).
const slideListWithText = 4080;
const slidePersist = 1011;
const slide = 1006;
const notes = 1008;
const textHeader = 3999;
const textChars = 4000;
const textBytes = 4008;
const outlineReference = 3998;
const clientTextbox = 0xf00d;
const notesAtom = 1009;
const userEdit = 4085;
const persistDirectory = 6002;
// Kinds of text that are titles (2.13.33).
const titles = new Set([0, 6]);
// No presentation has deeper containers or longer chains of versions.
const deepest = 40;
const editsAtMost = 10_000;

/** The text of each slide of a PPT, as PowerPoint wrote them until 2003, with its notes. Throws Unreadable. */
export async function oldSlideTexts(bytes: Buffer): Promise<string[]> {
  const { CFB } = await import("@e965/xlsx");
  try {
    const streams = CFB.read(bytes, { type: "buffer" });
    const [current, document] = ["Current User", "PowerPoint Document"].map((name) => {
      const content = CFB.find(streams, name)?.content;
      return content && Buffer.from(content);
    });
    if (!current || !document) throw damaged(what);
    // The mark of a file that is encrypted (2.3.2).
    if (current.readUInt32LE(12) === 0xf3d1c4df) throw withPassword();
    return new Presentation(document, current.readUInt32LE(16)).slides();
  } catch (error) {
    // The library throws plain errors, a place beyond the end is a RangeError.
    throw error instanceof Unreadable ? error : damaged(what);
  }
}

class Presentation {
  readonly #bytes: Buffer;
  /** Places of the newest versions of slides and notes by their numbers. */
  readonly #places = new Map<number, number>();
  readonly #documentNumber: number;

  /** `edit`: place of the newest edit. */
  constructor(bytes: Buffer, edit: number) {
    this.#bytes = bytes;
    this.#documentNumber = bytes.readUInt32LE(edit + 8 + 16);
    let count = 0;
    for (let at = edit; at !== 0 && count < editsAtMost; count++) {
      if (this.#recordAt(at).type !== userEdit) throw new RangeError("No edit");
      this.#readDirectory(bytes.readUInt32LE(at + 8 + 12));
      at = bytes.readUInt32LE(at + 8 + 8);
    }
  }

  slides(): string[] {
    const document = this.#recordAt(this.#places.get(this.#documentNumber) ?? 0);
    const lists = [...this.#inside(document)].filter(({ type }) => type === slideListWithText);
    const notesOf = new Map<number, string>();
    for (const { place } of this.#listed(lists.find(({ instance }) => instance === 2))) {
      const container = this.#recordAt(place);
      const about = [...this.#inside(container)].find(({ type }) => type === notesAtom);
      if (container.type === notes && about) {
        notesOf.set(this.#bytes.readUInt32LE(about.from), this.#textOf(container, []));
      }
    }
    return this.#listed(lists.find(({ instance }) => instance === 0)).map(({ place, id, outline }) => {
      const container = this.#recordAt(place);
      const shown = container.type === slide ? this.#textOf(container, outline) : outline.join("\n\n");
      const said = notesOf.get(id);
      return [shown, said && `Notas: ${said}`].filter(Boolean).join("\n\n");
    });
  }

  #recordAt(at: number): PptRecord {
    const flags = this.#bytes.readUInt16LE(at);
    const length = this.#bytes.readUInt32LE(at + 4);
    const to = Math.min(at + 8 + length, this.#bytes.length);
    return {
      type: this.#bytes.readUInt16LE(at + 2),
      instance: flags >> 4,
      isContainer: (flags & 15) === 15,
      from: at + 8,
      to,
    };
  }

  *#inside({ from, to }: PptRecord): Generator<PptRecord> {
    for (let at = from; at + 8 <= to; ) {
      const record = this.#recordAt(at);
      yield record;
      at = record.to;
    }
  }

  #readDirectory(at: number): void {
    const { type, from, to } = this.#recordAt(at);
    if (type !== persistDirectory) throw new RangeError("No directory");
    for (let entry = from; entry + 4 <= to; ) {
      const first = this.#bytes.readUInt32LE(entry);
      const count = first >>> 20;
      for (let n = 0; n < count && entry + 8 + 4 * n <= to; n++) {
        const number = (first & 0xfffff) + n;
        // The newest edit is read first.
        if (!this.#places.has(number)) this.#places.set(number, this.#bytes.readUInt32LE(entry + 4 + 4 * n));
      }
      entry += 4 + 4 * count;
    }
  }

  /** Slides or notes of a list: where each stands, its id, and the texts of its placeholders. */
  #listed(list: PptRecord | undefined): { place: number; id: number; outline: string[] }[] {
    const found: { place: number; id: number; outline: string[] }[] = [];
    let kind = 0;
    for (const record of list ? this.#inside(list) : []) {
      if (record.type === slidePersist) {
        const place = this.#places.get(this.#bytes.readUInt32LE(record.from));
        const id = this.#bytes.readUInt32LE(record.from + 12);
        if (place !== undefined) found.push({ place, id, outline: [] });
      } else if (record.type === textHeader) kind = this.#bytes.readUInt32LE(record.from);
      else if (isText(record)) found.at(-1)?.outline.push(this.#said(record, titles.has(kind)));
    }
    return found;
  }

  /** The text of all shapes of a slide; that of its placeholders may stand in the list of slides. */
  #textOf(container: PptRecord, outline: string[]): string {
    const said: string[] = [];
    const open = [{ record: container, deep: 0 }];
    for (let next = open.pop(); next; next = open.pop()) {
      const { record, deep } = next;
      if (record.type === clientTextbox) said.push(...this.#textBox(record, outline));
      else if (record.isContainer && deep < deepest) {
        open.push(...[...this.#inside(record)].reverse().map((inner) => ({ record: inner, deep: deep + 1 })));
      }
    }
    return said.filter((text) => text.trim()).join("\n\n");
  }

  #textBox(box: PptRecord, outline: string[]): string[] {
    let kind = 4;
    return [...this.#inside(box)].flatMap((record) => {
      if (record.type === textHeader) kind = this.#bytes.readUInt32LE(record.from);
      if (record.type === outlineReference) return outline[this.#bytes.readUInt32LE(record.from)] ?? [];
      return isText(record) ? this.#said(record, titles.has(kind)) : [];
    });
  }

  #said({ type, from, to }: PptRecord, isTitle: boolean): string {
    const text = this.#bytes.toString(type === textChars ? "utf16le" : "latin1", from, to);
    // Paragraphs end in a carriage return, lines in a vertical tab; a star stands for the number of the slide.
    const lines = text.replace(/[\r\v]/g, "\n").trim();
    return lines === "*" ? "" : `${isTitle && lines ? "# " : ""}${lines}`;
  }
}

const isText = ({ type }: PptRecord) => type === textChars || type === textBytes;
