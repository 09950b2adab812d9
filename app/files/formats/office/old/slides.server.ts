import { inflateSync } from "node:zlib";
import { damaged, Unreadable, withPassword } from "../../unreadable.server.ts";
import { openCompoundFile, readPart } from "./compound-file.server.ts";
import { objectsIn } from "./embedded-objects.server.ts";
import { paragraphNumbers } from "./slide-numbers.server.ts";

const what = "un PPT";

/** A record of a PowerPoint file (MS-PPT, 2.3.1): `from` and `to` are where its content stands. */
type PptRecord = { type: number; instance: number; isContainer: boolean; from: number; to: number };

type StoredObject = { bytes: Buffer; isCompressed: boolean };

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
const shape = 0xf004;
const textStyles = 4001;
const notesAtom = 1009;
const userEdit = 4085;
const persistDirectory = 6002;
const objectList = 1033;
const embeddedObject = 4044;
const objectAtom = 4035;
const objectReference = 3009;
const objectStorage = 4113;
// Data of newer versions, with the comments of a slide: it is no container by its flags.
const binaryTag = 5003;
const comment = 12_000;
// From a shape down to the numbers of its paragraphs.
const waysToNumbers = [0xf011, 5000, 5002, binaryTag, 4012];
const labelledText = 4026;
// Kinds of text that are titles (2.13.33).
const titles = new Set([0, 6]);
// No presentation has deeper containers or longer chains of versions.
const deepest = 40;
const editsAtMost = 10_000;
const objectsAtMost = 100;
// In bytes: of an object without its compression.
const objectAtMost = 20_000_000;

/** The text of each slide of a PPT, as PowerPoint wrote them until 2003, with its notes. Throws Unreadable. */
export async function oldSlideTexts(bytes: Buffer): Promise<string[]> {
  try {
    const streams = await openCompoundFile(bytes);
    const current = streams.get("Current User");
    const document = streams.get("PowerPoint Document");
    if (!current || !document) throw damaged(what);
    // The mark of a file that is encrypted (2.3.2).
    if (current.readUInt32LE(12) === 0xf3d1c4df) throw withPassword();
    const presentation = new Presentation(document, current.readUInt32LE(16));
    const objects = new Map<number, string>();
    for (const [id, object] of presentation.objects()) objects.set(id, await objectText(object));
    return presentation.slides(objects);
  } catch (error) {
    // The library throws plain errors, a place beyond the end is a RangeError.
    throw error instanceof Unreadable ? error : damaged(what);
  }
}

/** Charts and sheets of an object; empty where it can't be read. */
async function objectText({ bytes, isCompressed }: StoredObject): Promise<string> {
  try {
    // Before compressed bytes stands their size without compression.
    const file = isCompressed ? inflateSync(bytes.subarray(4), { maxOutputLength: objectAtMost }) : bytes;
    return (await objectsIn(await openCompoundFile(file))).join("\n\n");
  } catch {
    // Both libraries throw plain errors, and the slides are whole without the object.
    return "";
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

  get #document(): PptRecord {
    return this.#recordAt(this.#places.get(this.#documentNumber) ?? 0);
  }

  /** Files of the objects that stand on slides, by the numbers that slides refer to. */
  objects(): Map<number, StoredObject> {
    const found = new Map<number, StoredObject>();
    const list = [...this.#inside(this.#document)].find(({ type }) => type === objectList);
    for (const object of list ? this.#inside(list) : []) {
      if (object.type !== embeddedObject || found.size >= objectsAtMost) continue;
      const atom = [...this.#inside(object)].find(({ type }) => type === objectAtom);
      const place = atom && this.#places.get(this.#bytes.readUInt32LE(atom.from + 16));
      const storage = place === undefined ? undefined : this.#recordAt(place);
      if (!atom || storage?.type !== objectStorage) continue;
      const id = this.#bytes.readUInt32LE(atom.from + 8);
      found.set(id, { bytes: this.#bytes.subarray(storage.from, storage.to), isCompressed: storage.instance === 1 });
    }
    return found;
  }

  /** `objects`: their texts by their numbers. */
  slides(objects: Map<number, string>): string[] {
    const document = this.#document;
    const lists = [...this.#inside(document)].filter(({ type }) => type === slideListWithText);
    const notesOf = new Map<number, string>();
    for (const { place } of this.#listed(lists.find(({ instance }) => instance === 2))) {
      const container = this.#recordAt(place);
      const about = [...this.#inside(container)].find(({ type }) => type === notesAtom);
      if (container.type === notes && about) {
        notesOf.set(this.#bytes.readUInt32LE(about.from), this.#textOf(container, [], objects));
      }
    }
    return this.#listed(lists.find(({ instance }) => instance === 0)).map(({ place, id, outline }) => {
      const container = this.#recordAt(place);
      const shown = container.type === slide ? this.#textOf(container, outline, objects) : outline.join("\n\n");
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
  #textOf(container: PptRecord, outline: string[], objects: Map<number, string>): string {
    const said: string[] = [];
    const open: { record: PptRecord; deep: number; kinds: Buffer }[] = [
      { record: container, deep: 0, kinds: Buffer.alloc(0) },
    ];
    for (let next = open.pop(); next; next = open.pop()) {
      const { record, deep, kinds } = next;
      if (record.type === clientTextbox) said.push(...this.#textBox(record, outline, kinds));
      else if (record.type === objectReference) said.push(objects.get(this.#bytes.readUInt32LE(record.from)) ?? "");
      else if (record.type === comment) said.push(this.#comment(record));
      else if ((record.isContainer || record.type === binaryTag) && deep < deepest) {
        const own = record.type === shape ? this.#numbersOf(record) : kinds;
        const inner = [...this.#inside(record)].reverse();
        open.push(...inner.map((one) => ({ record: one, deep: deep + 1, kinds: own })));
      }
    }
    return said.filter((text) => text.trim()).join("\n\n");
  }

  #comment(record: PptRecord): string {
    const texts = [...this.#inside(record)].filter(({ type }) => type === labelledText);
    const [author = "", text = ""] = [0, 1].map((instance) => {
      const found = texts.find((one) => one.instance === instance);
      return found && this.#bytes.toString("utf16le", found.from, found.to).replace(/\s+/g, " ").trim();
    });
    return text && `[comentario${author && ` de ${author}`}: ${text}]`;
  }

  /** Kinds of numbered paragraphs that the text of a shape refers to; empty if it has none. */
  #numbersOf(record: PptRecord): Buffer {
    let found: PptRecord | undefined = record;
    for (const type of waysToNumbers) found = found && [...this.#inside(found)].find((one) => one.type === type);
    return found ? this.#bytes.subarray(found.from, found.to) : Buffer.alloc(0);
  }

  #textBox(box: PptRecord, outline: string[], kinds: Buffer): string[] {
    let kind = 4;
    const records = [...this.#inside(box)];
    const styles = records.find(({ type }) => type === textStyles);
    return records.flatMap((record) => {
      if (record.type === textHeader) kind = this.#bytes.readUInt32LE(record.from);
      if (record.type === outlineReference) return outline[this.#bytes.readUInt32LE(record.from)] ?? [];
      if (!isText(record)) return [];
      const looks = styles && kinds.length > 0 ? this.#bytes.subarray(styles.from, styles.to) : undefined;
      return this.#said(record, titles.has(kind), (text) => (looks ? paragraphNumbers(text, looks, kinds) : []));
    });
  }

  #said({ type, from, to }: PptRecord, isTitle: boolean, numbersOf: (text: string) => string[] = () => []): string {
    const text = this.#bytes.toString(type === textChars ? "utf16le" : "latin1", from, to);
    const numbers = readPart(() => numbersOf(text), []);
    // Paragraphs end in a carriage return, lines in a vertical tab; a star stands for the number of the slide.
    const paragraphs = text.split("\r").map((paragraph, n) => `${numbers[n] ? `${numbers[n]} ` : ""}${paragraph}`);
    const lines = paragraphs.join("\n").replaceAll("\v", "\n").trim();
    return lines === "*" ? "" : `${isTitle && lines ? "# " : ""}${lines}`;
  }
}

const isText = ({ type }: PptRecord) => type === textChars || type === textBytes;
