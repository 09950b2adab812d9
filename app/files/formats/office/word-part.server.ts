import { type Attributes, parseXml, TreeBuilder } from "../../../process/text/xml.server.ts";
import type { Archive } from "../archive.server.ts";
import { formulaText, superscript } from "../math.server.ts";
import { drawnSign, isWingdings, wingdingSigns } from "../symbol-font.server.ts";
import { TextWriter } from "../text-writer.server.ts";
import { chartRows, diagramLines } from "./drawings.server.ts";
import { Links } from "./links.server.ts";
import type { Numbering } from "./numbering.server.ts";
import type { Relation, Relations } from "./parts.server.ts";
import { addressIn, WordFields } from "./word-fields.server.ts";
import type { WordStyle } from "./word-styles.server.ts";

/** A footnote, endnote or comment. `author`: of a comment. */
export type Note = { text: string; author: string };
/** Parts of a document that all of its texts refer to; `notes` by their element and id. */
export type WordDocument = {
  archive: Archive;
  styles: Map<string, WordStyle>;
  numbering: Numbering;
  notes: Map<string, Note>;
  /** Texts of the files of other kinds that stand in the document, by their paths. */
  chunks: Map<string, string>;
};
type Paragraph = WordStyle & { style: string; isBegun: boolean };

/** A text that is written by itself: the part, or a text box in it. */
type Flow = {
  writer: TextWriter;
  paragraphs: Paragraph[];
  tables: number;
  /** Open tables: whether each is a frame, of one column, around other text; `columns`: of the table that has begun. */
  frames: boolean[];
  columns: number;
  wasItem: boolean;
  boxes: string[];
  /** Column of the open cell of the outermost table, from 0, and how many columns the cell takes. */
  column: number;
  span: number;
  /** Texts of cells that may reach over further rows, by their columns. */
  merged: Map<number, string>;
  /** Whether the open cell is such a cell. */
  isMerged: boolean;
};

// Deleted text, copies for older programs, what is not shown, and how something looked before a change.
const unread = new Set([
  ...["w:del", "w:moveFrom", "mc:Fallback", "w:delText", "w:rt", "w:sectPr"],
  ...["w:rPrChange", "w:pPrChange", "w:tblPrChange", "w:trPrChange", "w:tcPrChange"],
]);
// Length of the quoted text that a comment is about.
const aboutAtMost = 80;
// Length of the text of a cell that is written again.
const mergedAtMost = 200;
// Columns over which a cell may reach; Word has 63.
const columnsAtMost = 63;
// Comments whose places are open at the same time; the oldest is dropped for a new one.
const commentsAtOnce = 50;

/** Reads one part of a Word document (ECMA-376, part 1, 17): its body, a header, its notes. */
export class WordPart {
  readonly #document: WordDocument;
  readonly #relations: Relation[];
  readonly #addresses: ReadonlyMap<string, string>;
  readonly #links = new Links();
  #flows: Flow[] = [];
  #hidden = 0;
  /** Whether the properties of a row are open, and rows that are open within one that was deleted in tracked changes, itself included. */
  #isRowProperties = false;
  #deletedRows = 0;
  #isText = false;
  #isRun = false;
  #isVanished = false;
  #isRaised = false;
  #isStruck = false;
  /** Whether struck text has begun that has not ended. */
  #hasStruck = false;
  #font = "";
  readonly #fields = new WordFields();
  #isInstruction = false;
  /** Address around each open simple field. */
  readonly #outer: (string | undefined)[] = [];
  /** Open content controls: whether a control shows a placeholder instead of an answer. */
  #controls: boolean[] = [];
  #placeholders = 0;
  #formula: TreeBuilder | undefined;
  /** The text that each open comment is about, so far, by the comment's id. */
  readonly #about = new Map<string, string>();
  #choices: string[] = [];
  #chosen = 0;

  constructor(document: WordDocument, { relations, addresses }: Relations) {
    this.#document = document;
    this.#relations = relations;
    this.#addresses = addresses;
  }

  textOf(xml: string): string {
    this.#flows = [newFlow()];
    parseXml(xml, this.#handler());
    return this.#flow.writer.toString();
  }

  /** Notes of a part by their ids. */
  notesIn(xml: string, element: string): Map<string, Note> {
    const notes = new Map<string, Note>();
    let id: string | undefined;
    let author = "";
    const handler = this.#handler();
    this.#flows = [newFlow()];
    parseXml(xml, {
      open: (name, attributes) => {
        if (name === element) {
          // Separators of notes have a type.
          id = attributes["w:type"] ? undefined : attributes["w:id"];
          author = attributes["w:author"] ?? "";
          this.#flows = [newFlow()];
        } else handler.open(name, attributes);
      },
      close: (name) => {
        if (name !== element) return handler.close(name);
        const text = this.#flow.writer.toString().replace(/\s+/g, " ").trim();
        if (id !== undefined && text) notes.set(id, { text, author });
      },
      text: handler.text,
    });
    return notes;
  }

  get #flow(): Flow {
    const flow = this.#flows.at(-1);
    if (!flow) throw new Error("No text is being read");
    return flow;
  }

  #handler() {
    return {
      open: (name: string, attributes: Attributes) => {
        if (name === "w:trPr" || name === "w:tc") this.#isRowProperties = name === "w:trPr";
        if (name === "w:tr" && this.#deletedRows > 0) this.#deletedRows++;
        if (name === "w:del" && this.#isRowProperties && this.#hidden === 0) [this.#hidden, this.#deletedRows] = [1, 1];
        if (unread.has(name)) this.#hidden++;
        if (this.#hidden > 0) return;
        if (this.#formula) this.#formula.open(name, attributes);
        else this.#open(name, attributes);
      },
      close: (name: string) => {
        if (unread.has(name)) {
          this.#hidden = Math.max(0, this.#hidden - 1);
          return;
        }
        if (name === "w:tr" && this.#deletedRows > 0 && --this.#deletedRows === 0) this.#hidden--;
        if (this.#hidden > 0) return;
        if (this.#formula && name !== "m:oMath") this.#formula.close();
        else this.#close(name);
      },
      text: (text: string) => {
        if (this.#hidden > 0) return;
        if (this.#formula) this.#formula.text(text);
        else if (this.#isInstruction) this.#fields.instruct(text);
        else if (this.#isText && !this.#isVanished && !this.#fields.isInstruction && this.#placeholders === 0)
          this.#sayRun(isWingdings(this.#font) ? wingdingSigns(text, this.#font) : text);
      },
    };
  }

  #open(name: string, attributes: Attributes): void {
    const value = attributes["w:val"];
    switch (name) {
      case "w:p":
        this.#flow.paragraphs.push({ style: "", isBegun: false });
        return;
      case "w:pStyle":
      case "w:ilvl":
      case "w:numId":
      case "w:outlineLvl":
        this.#property(name, value ?? "");
        return;
      case "w:tbl":
        this.#flow.tables++;
        this.#flow.frames.push(false);
        this.#flow.columns = 0;
        return;
      case "w:gridCol":
        this.#flow.columns++;
        return;
      case "w:tr":
      case "w:tc":
        if (!this.#flow.frames.at(-1)) this.#openTablePart(name);
        return;
      case "w:gridBefore":
        if (this.#flow.tables === 1) this.#skipColumns(Number(value) || 0);
        return;
      case "w:gridSpan":
        if (this.#flow.tables === 1) this.#flow.span = Number(value) || 1;
        return;
      case "w:vMerge":
        if (this.#flow.tables === 1) this.#mergeCell(value === "restart");
        return;
      case "w:txbxContent":
        this.#endLink();
        this.#flows.push(newFlow());
        return;
      case "m:oMath":
        this.#formula = new TreeBuilder(name);
        return;
      case "w:hyperlink":
        this.#links.lead(this.#addresses.get(attributes["r:id"] ?? ""));
        return;
      case "w:altChunk":
        this.#chunk(attributes["r:id"]);
        return;
      case "c:chart":
        this.#drawing(attributes["r:id"], (path) => chartRows(this.#document.archive, path));
        return;
      case "dgm:relIds":
        this.#drawing(attributes["r:dm"], (path) => diagramLines(this.#document.archive, path).map((line) => [line]));
        return;
      default:
        this.#openRun(name, attributes);
    }
  }

  #openTablePart(name: "w:tr" | "w:tc"): void {
    const { writer, tables } = this.#flow;
    if (tables > 1) {
      if (name === "w:tr") writer.innerRow();
      else writer.innerCell();
    } else if (name === "w:tc") this.#openCell();
    else {
      writer.row();
      [this.#flow.column, this.#flow.span] = [0, 0];
    }
  }

  /** Takes a table of one column for what it is: a frame around text and tables. */
  #endColumns(): void {
    const flow = this.#flow;
    if (flow.columns !== 1 || flow.frames.at(-1) !== false) return;
    flow.frames[flow.frames.length - 1] = true;
    flow.tables--;
  }

  #openCell(): void {
    const flow = this.#flow;
    // A cell over several columns keeps their places, so that the next one stands under its own heading.
    for (let n = 0; n < Math.max(1, Math.min(flow.span, columnsAtMost)); n++) flow.writer.cell();
    flow.column += flow.span;
    flow.span = 1;
    flow.isMerged = false;
  }

  /** Places that a row leaves free before its first cell. */
  #skipColumns(count: number): void {
    for (let n = 0; n < Math.min(count, columnsAtMost); n++) this.#flow.writer.cell();
    this.#flow.column = count;
  }

  /** A cell that reaches over several rows: its text is written in each of them, so that a row says what it is about. */
  #mergeCell(isFirst: boolean): void {
    const { merged, column } = this.#flow;
    if (isFirst) merged.set(column, "");
    else this.#say(merged.get(column) ?? "");
    this.#flow.isMerged = isFirst;
  }

  /** A file of another kind that Word shows as part of the text, as programs do that make a document of HTML. */
  #chunk(id: string | undefined): void {
    const path = this.#relations.find((relation) => relation.id === id)?.path ?? "";
    for (const line of (this.#document.chunks.get(path) ?? "").split("\n")) {
      this.#flow.writer.line();
      this.#flow.writer.text(line);
    }
  }

  #beginRun(): void {
    this.#isRun = true;
    [this.#isRaised, this.#isStruck, this.#font] = [false, false, ""];
    this.#isVanished = this.#document.styles.get(this.#flow.paragraphs.at(-1)?.style ?? "")?.isHidden === true;
  }

  /** How the text of the run looks, as far as that says something. */
  #look(name: string, attributes: Attributes): void {
    const value = attributes["w:val"];
    if (name === "w:vertAlign") this.#isRaised = value === "superscript";
    else if (name === "w:rFonts") this.#font = attributes["w:ascii"] ?? attributes["w:hAnsi"] ?? "";
    else if (name === "w:vanish") this.#isVanished ||= isOn(value);
    else if (name === "w:rStyle") {
      const style = this.#document.styles.get(value ?? "");
      this.#isVanished ||= style?.isHidden === true;
      this.#isRaised ||= style?.isRaised === true;
    } else this.#isStruck = isOn(value);
  }

  /** Text of a run, and marks that stand in one. */
  #openRun(name: string, attributes: Attributes): void {
    switch (name) {
      case "w:r":
        this.#beginRun();
        return;
      case "w:rStyle":
      case "w:vertAlign":
      case "w:strike":
      case "w:dstrike":
      case "w:rFonts":
      case "w:vanish":
        if (this.#isRun) this.#look(name, attributes);
        return;
      case "w:t":
        this.#isText = true;
        return;
      case "w:ptab":
        this.#say(" ");
        return;
      case "w:tab":
        // In the properties of a paragraph, `w:tab` is a tab stop, not a character.
        if (this.#isRun) this.#say(" ");
        return;
      case "w:br":
      case "w:cr":
        this.#begin();
        this.#endLink();
        this.#flow.writer.line();
        return;
      case "w:noBreakHyphen":
        this.#say("-");
        return;
      case "w:sym":
        this.#say(drawnSign(Number.parseInt(attributes["w:char"] ?? "", 16), attributes["w:font"]));
        return;
      case "w:footnoteReference":
      case "w:endnoteReference":
        this.#note(`${name.slice(0, -"Reference".length)} ${attributes["w:id"]}`);
        return;
      case "w:commentRangeStart":
        this.#openAbout(attributes["w:id"] ?? "");
        return;
      case "w:commentReference":
        this.#comment(attributes["w:id"] ?? "");
        return;
      default:
        this.#openControl(name, attributes);
    }
  }

  /** Fields, and controls of forms. */
  #openControl(name: string, attributes: Attributes): void {
    const value = attributes["w:val"];
    switch (name) {
      case "w:sdt":
        this.#controls.push(false);
        return;
      case "w:showingPlcHdr":
        if (isOn(value) && this.#controls.at(-1) === false) {
          this.#controls[this.#controls.length - 1] = true;
          this.#placeholders++;
        }
        return;
      case "w:fldChar":
        this.#field(attributes["w:fldCharType"] ?? "");
        return;
      case "w:instrText":
        this.#isInstruction = true;
        return;
      case "w:fldSimple":
        this.#outer.push(this.#links.address);
        this.#leadTo(addressIn(attributes["w:instr"]));
        return;
      case "w:checkBox":
        this.#choices = [];
        this.#chosen = 0;
        return;
      case "w:default":
      case "w:result":
        this.#chosen = Number(value ?? 0);
        return;
      case "w:checked":
        this.#chosen = isOn(value) ? 1 : 0;
        return;
      case "w:ddList":
        this.#choices = [];
        this.#chosen = 0;
        return;
      case "w:listEntry":
        this.#choices.push(value ?? "");
        return;
    }
  }

  #close(name: string): void {
    switch (name) {
      case "w:hyperlink":
        this.#links.lead(undefined);
        return;
      case "w:fldSimple":
        this.#links.lead(this.#outer.pop());
        return;
      case "w:instrText":
        this.#isInstruction = false;
        return;
      case "w:p":
        this.#begin();
        this.#endStruck();
        this.#links.lead(undefined);
        this.#endLink();
        this.#fields.endParagraph();
        this.#flow.paragraphs.pop();
        if (this.#flow.paragraphs.length === 0) this.#writeBoxes();
        return;
      case "w:t":
        this.#isText = false;
        return;
      case "w:r":
        this.#isRun = false;
        return;
      case "w:checkBox":
        this.#say(this.#chosen ? "[marcada] " : "[sin marcar] ");
        return;
      case "w:ddList":
        this.#say(this.#choices[this.#chosen] ?? "");
        return;
      case "w:sdt":
        if (this.#controls.pop()) this.#placeholders--;
        return;
      case "w:tblGrid":
        this.#endColumns();
        return;
      case "w:tbl":
        if (this.#flow.frames.pop() !== true) this.#flow.tables = Math.max(0, this.#flow.tables - 1);
        if (this.#flow.tables > 0) return;
        this.#flow.writer.endTable();
        this.#flow.isMerged = false;
        return;
      case "w:txbxContent": {
        const box = this.#flows.length > 1 ? this.#flows.pop() : undefined;
        const text = box?.writer.toString();
        if (text) this.#flow.boxes.push(text);
        return;
      }
      case "m:oMath": {
        const text = this.#formula && formulaText(this.#formula.root);
        this.#formula = undefined;
        if (text) this.#say(` ${text} `);
      }
    }
  }

  #property(name: string, value: string): void {
    const paragraph = this.#flow.paragraphs.at(-1);
    if (!paragraph || paragraph.isBegun) return;
    if (name === "w:pStyle") paragraph.style = value;
    else if (name === "w:ilvl") paragraph.level = Number(value);
    else if (name === "w:numId") paragraph.numId = value;
    else if (Number(value) < 9) paragraph.heading = Number(value) + 1;
  }

  /** Begins the line of a paragraph when its properties are known, with its mark or number. */
  #begin(): void {
    const { writer, tables, paragraphs, wasItem } = this.#flow;
    const paragraph = paragraphs.at(-1);
    if (!paragraph || paragraph.isBegun) return;
    paragraph.isBegun = true;
    const style = this.#document.styles.get(paragraph.style);
    const heading = paragraph.heading ?? style?.heading;
    const mark = this.#numberOf(paragraph, style);
    const isItem = mark !== "" && !heading;
    if (tables > 0) writer.line();
    else if (heading) writer.heading(heading);
    else if (isItem && wasItem) writer.line();
    else writer.paragraph();
    this.#flow.wasItem = isItem;
    if (mark) writer.mark(mark);
  }

  #numberOf({ numId, level, style }: Paragraph, inherited: WordStyle | undefined): string {
    const { numbering, styles } = this.#document;
    let id = numId ?? inherited?.numId;
    // Numbering 0 removes the numbering of the style.
    if (!id || id === "0") return "";
    const link = numbering.styleOf(id);
    if (link) id = styles.get(link)?.numId ?? id;
    return numbering.next(id, level ?? numbering.levelOfStyle(id, style) ?? inherited?.level ?? 0);
  }

  #sayRun(text: string): void {
    if (!this.#isStruck) this.#endStruck();
    else if (!this.#hasStruck && text.trim()) {
      this.#hasStruck = true;
      this.#say("[tachado: ");
    }
    this.#say(this.#isRaised ? superscript(text) : text);
  }

  #endStruck(): void {
    if (this.#hasStruck) this.#say("] ");
    this.#hasStruck = false;
  }

  #say(text: string): void {
    this.#begin();
    this.#flow.writer.words(`${this.#links.before(text)}${text}`);
    const { merged, column, isMerged } = this.#flow;
    if (isMerged) merged.set(column, `${merged.get(column) ?? ""}${text}`.slice(0, mergedAtMost));
    for (const [id, about] of this.#about) {
      if (about.length < aboutAtMost) this.#about.set(id, about + text);
    }
  }

  /** Writes the address of a link whose words have ended. */
  #endLink(): void {
    const address = this.#links.before("");
    if (address) this.#say(address);
  }

  #openAbout(id: string): void {
    const [oldest] = this.#about.keys();
    if (oldest !== undefined && this.#about.size >= commentsAtOnce) this.#about.delete(oldest);
    this.#about.set(id, "");
  }

  #field(kind: string): void {
    if (kind === "begin") this.#fields.begin();
    else if (kind === "separate") this.#leadTo(this.#fields.separate());
    else if (kind === "end" && this.#fields.end()) this.#links.lead(undefined);
  }

  #leadTo(address: string | undefined): void {
    if (address) this.#links.lead(address);
  }

  #note(key: string): void {
    const note = this.#document.notes.get(key);
    if (note) this.#say(` [nota: ${note.text}] `);
  }

  #comment(id: string): void {
    const about = (this.#about.get(id) ?? "").trim();
    this.#about.delete(id);
    const note = this.#document.notes.get(`w:comment ${id}`);
    if (!note) return;
    const by = note.author ? ` de ${note.author}` : "";
    this.#say(` [comentario${by}${about && ` sobre «${about}»`}: ${note.text}] `);
  }

  /** A chart or a diagram, after the paragraph in which it stands. */
  #drawing(id: string | undefined, rowsOf: (path: string) => string[][]): void {
    const part = this.#relations.find((relation) => relation.id === id);
    const rows = part ? rowsOf(part.path) : [];
    if (rows.length > 0) this.#flow.boxes.push(rows.map((row) => row.join(" | ")).join("\n"));
  }

  #writeBoxes(): void {
    const { boxes, writer } = this.#flow;
    for (const box of boxes.splice(0)) {
      if (this.#flow.tables > 0) writer.words(` ${box} `);
      else {
        writer.paragraph();
        writer.text(box);
      }
    }
  }
}

/** Whether a property with this value is on; one without a value is. */
const isOn = (value: string | undefined) => value === undefined || !/^(?:0|false|off)$/.test(value);

const newFlow = (): Flow => ({
  ...{ writer: new TextWriter(), paragraphs: [], tables: 0, frames: [], columns: 0, wasItem: false, boxes: [] },
  ...{ column: 0, span: 0, merged: new Map(), isMerged: false },
});
