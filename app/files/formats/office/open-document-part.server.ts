import { type Attributes, firstIn, parseXml, treeOf } from "../../../process/text/xml.server.ts";
import type { Archive } from "../archive.server.ts";
import { formulaText, superscript } from "../math.server.ts";
import { TextWriter } from "../text-writer.server.ts";
import { objectRows } from "./drawings.server.ts";
import { Links } from "./links.server.ts";
import { type DocumentStyles, ListCounts, outline } from "./open-document-styles.server.ts";

type List = { style: string; level: number; mark: string | undefined; from: number | undefined };
/** A comment while its text is read, or while the place that it is about is open. */
type Comment = { name: string | undefined; author: string; text: string; about: string };

// Deleted text, and text that is there a second time.
const unread = new Set([
  "text:tracked-changes",
  "text:alphabetical-index",
  "text:table-of-content",
  "text:note-citation",
  "text:number",
  "text:page-number",
  "dc:date",
  "meta:date-string",
  "meta:creator-initials",
  "loext:sender-initials",
  "svg:desc",
  "svg:title",
  "table:shapes",
]);
// Length of the quoted text that a comment is about.
const aboutAtMost = 80;
const commentsAtOnce = 50;
const styled = new Set(["text:span", "text:p", "text:h"]);
const blanksAtMost = 100;
// Length of the text of a cell that is written again.
const tallAtMost = 200;

/** Reads a part of an OpenDocument file (OpenDocument 1.3, part 3): its text, its slides. */
export class OpenDocumentPart {
  readonly #archive: Archive;
  readonly #counts: ListCounts;
  readonly #hiddenStyles: ReadonlySet<string>;
  readonly #raisedStyles: ReadonlySet<string>;
  readonly #struckStyles: ReadonlySet<string>;
  /** Writers of the part, and of open notes, comments and boxes in it, whose text is written separately. */
  #writers = [new TextWriter()];
  /** How many of the writers are for notes and comments. */
  #asides = 0;
  #boxes: string[] = [];
  /** Words to write before the next text; empty once they are written. */
  #before = "";
  #tables = 0;
  /** Open tables: whether each is a frame, of one column, around other text; `#columns`: of the table that has begun. */
  readonly #frames: boolean[] = [];
  #columns = 0;
  /** Column of the open cell of the outermost table, from 0, and whether the cell reaches down over several rows. */
  #column = -1;
  #isTall = false;
  /** Texts of such cells, and over how many more rows they reach, by their columns. */
  readonly #tall = new Map<number, { text: string; rows: number }>();
  /** Styles of the spans and paragraphs that are open. */
  readonly #spans: string[] = [];
  #lists: List[] = [];
  #paragraphs = 0;
  #hidden = 0;
  #comments: Comment[] = [];
  #isCreator = false;
  readonly #controls = new Map<string, string>();
  #control = "";
  readonly #links = new Links();
  #awaitsEnds = false;

  constructor(archive: Archive, { lists, hidden, raised, struck }: DocumentStyles) {
    this.#archive = archive;
    this.#counts = new ListCounts(lists);
    this.#hiddenStyles = hidden;
    this.#raisedStyles = raised;
    this.#struckStyles = struck;
  }

  pagesOf(xml: string): string[] {
    this.#awaitsEnds = xml.includes("<office:annotation-end");
    parseXml(xml, {
      open: (name, attributes) => {
        if (unread.has(name) || this.#isHidden(name, attributes)) this.#hidden++;
        if (this.#hidden === 0) this.#open(name, attributes);
      },
      close: (name) => {
        if (unread.has(name) || (styled.has(name) && this.#hiddenStyles.has(this.#spans.pop() ?? ""))) this.#hidden--;
        else if (this.#hidden === 0) this.#close(name);
      },
      text: (text) => {
        if (this.#hidden > 0) return;
        if (this.#isCreator) this.#lastComment((comment) => ({ ...comment, author: comment.author + text }));
        else if (this.#paragraphs > 0) this.#sayIn(this.#spans.at(-1) ?? "", text);
      },
    });
    for (const comment of this.#comments) this.#writeComment(comment);
    return this.#writer.pages();
  }

  #sayIn(style: string, text: string): void {
    if (this.#struckStyles.has(style) && text.trim()) this.#say(`[tachado: ${text.trim()}]`);
    else this.#say(this.#raisedStyles.has(style) ? superscript(text) : text);
  }

  #isHidden(name: string, attributes: Attributes): boolean {
    if (!styled.has(name)) return false;
    const style = attributes["text:style-name"] ?? "";
    this.#spans.push(style);
    return this.#hiddenStyles.has(style);
  }

  get #writer(): TextWriter {
    const writer = this.#writers.at(-1);
    if (!writer) throw new Error("No text is being read");
    return writer;
  }

  #open(name: string, attributes: Attributes): void {
    switch (name) {
      case "text:h":
      case "text:p":
        this.#paragraphs++;
        this.#begin(name, attributes);
        return;
      case "text:list":
        this.#openList(attributes);
        return;
      case "text:list-item":
        this.#item({ mark: undefined, from: numberOf(attributes["text:start-value"]) }, true);
        return;
      case "text:list-header":
        this.#item({ mark: "", from: undefined }, false);
        return;
      case "table:table":
        this.#tables++;
        this.#frames.push(false);
        this.#columns = 0;
        return;
      case "table:table-column":
        this.#columns += numberOf(attributes["table:number-columns-repeated"]) ?? 1;
        return;
      case "table:table-row":
        this.#openRow();
        return;
      case "table:table-cell":
      case "table:covered-table-cell":
        if (this.#frames.at(-1)) return;
        if (this.#tables <= 1) this.#openCell(name === "table:covered-table-cell", attributes);
        else this.#writer.innerCell();
        return;
      case "draw:text-box":
        this.#endLink();
        if (this.#paragraphs > 0) this.#writers.push(new TextWriter());
        return;
      case "text:a":
        this.#links.lead(attributes["xlink:href"]);
        return;
      case "text:s":
        this.#endLink();
        this.#writer.text(" ".repeat(Math.max(0, Math.min(blanksAtMost, numberOf(attributes["text:c"]) ?? 1))));
        return;
      case "text:tab":
        this.#say(" ");
        return;
      case "text:line-break":
        this.#endLink();
        this.#writer.line();
        return;
      case "presentation:notes":
        this.#before = "Notas: ";
        return;
      default:
        this.#openAside(name, attributes);
    }
  }

  #openRow(): void {
    const last = this.#frames.length - 1;
    if (this.#columns === 1 && this.#frames[last] === false) {
      this.#frames[last] = true;
      this.#tables--;
    }
    // The next table counts its own columns, and the next row has been counted.
    this.#columns = 0;
    if (this.#frames[last]) return;
    if (this.#tables > 1) this.#writer.innerRow();
    else {
      this.#writer.row();
      this.#column = -1;
    }
  }

  /** A cell; one that is covered by another keeps its place, and says what that one says if it reaches down over several rows. */
  #openCell(isCovered: boolean, attributes: Attributes): void {
    this.#writer.cell();
    this.#column++;
    const above = this.#tall.get(this.#column);
    if (!isCovered || !above || above.rows === 0) this.#tall.delete(this.#column);
    else {
      above.rows--;
      this.#writer.words(above.text);
    }
    const rows = numberOf(attributes["table:number-rows-spanned"]) ?? 1;
    if (!isCovered && rows > 1) this.#tall.set(this.#column, { text: "", rows: rows - 1 });
    this.#isTall = !isCovered && rows > 1;
  }

  /** Notes, comments, objects and fields. */
  #openAside(name: string, attributes: Attributes): void {
    switch (name) {
      case "text:note-body":
        this.#endLink();
        this.#asides++;
        this.#writers.push(new TextWriter());
        return;
      case "office:annotation":
        this.#endLink();
        this.#asides++;
        this.#comments.push({ name: attributes["office:name"], author: "", text: "", about: "" });
        this.#writers.push(new TextWriter());
        return;
      case "office:annotation-end":
        this.#endComment(attributes["office:name"]);
        return;
      case "dc:creator":
        this.#isCreator = this.#asides > 0;
        return;
      case "draw:object":
        this.#object(attributes["xlink:href"] ?? "");
        return;
      case "draw:control":
        this.#say(` ${this.#controls.get(attributes["draw:control"] ?? "") ?? ""} `);
        return;
      case "field:param":
        if (attributes["field:name"] === "Checkbox_Checked") this.#say(box(attributes["field:value"] === "true"));
        return;
      default:
        if (name.startsWith("form:")) this.#formPart(name, attributes);
    }
  }

  #close(name: string): void {
    switch (name) {
      case "text:a":
        this.#links.lead(undefined);
        return;
      case "text:h":
      case "text:p":
        // A link may have a note within.
        if (this.#asides === 0) this.#links.lead(undefined);
        this.#endLink();
        this.#paragraphs--;
        if (this.#paragraphs === 0) this.#writeBoxes();
        return;
      case "draw:text-box":
        if (this.#paragraphs > 0 && this.#writers.length > 1) this.#boxes.push(this.#writers.pop()?.toString() ?? "");
        return;
      case "text:list":
        this.#lists.pop();
        return;
      case "table:table":
        if (this.#frames.pop() !== true) this.#tables--;
        if (this.#tables > 0) return;
        this.#writer.endTable();
        this.#tall.clear();
        this.#isTall = false;
        return;
      case "presentation:notes":
        this.#before = "";
        return;
      case "draw:page":
        this.#writer.page();
        return;
      case "dc:creator":
        this.#isCreator = false;
        return;
      case "text:note-body":
        this.#say(` [nota: ${this.#endAside()}] `);
        return;
      case "office:annotation": {
        const text = this.#endAside();
        this.#lastComment((comment) => ({ ...comment, text }));
        const { name: place } = this.#comments.at(-1) ?? {};
        if (!place || !this.#awaitsEnds) this.#endComment(place);
      }
    }
  }

  /** Writes the address of a link whose words have ended. */
  #endLink(): void {
    const address = this.#links.before("");
    if (address) this.#say(address);
  }

  #endAside(): string {
    const text = this.#writer.toString().replace(/\s+/g, " ").trim();
    if (this.#writers.length > 1) this.#writers.pop();
    this.#asides = Math.max(0, this.#asides - 1);
    return text;
  }

  /** Text boxes that stand in a paragraph come after it. */
  #writeBoxes(): void {
    for (const text of this.#boxes.splice(0).filter(Boolean)) {
      if (this.#tables > 0) this.#writer.words(` ${text} `);
      else {
        this.#writer.paragraph();
        this.#writer.text(text);
      }
    }
  }

  #lastComment(change: (comment: Comment) => Comment): void {
    const comment = this.#comments.pop();
    if (comment) this.#comments.push(change(comment));
  }

  /** Writes a comment after the text that it is about. */
  #endComment(name: string | undefined): void {
    const at = this.#comments.findLastIndex((comment) => comment.name === name);
    const [comment] = at < 0 ? [] : this.#comments.splice(at, 1);
    if (comment) this.#writeComment(comment);
  }

  #writeComment({ author, about, text }: Comment): void {
    if (!text) return;
    const by = author ? ` de ${author}` : "";
    this.#writer.words(` [comentario${by}${about.trim() && ` sobre «${about.trim()}»`}: ${text}] `);
  }

  #say(text: string): void {
    if (this.#before && text.trim()) {
      this.#writer.words(this.#before);
      this.#before = "";
    }
    this.#writer.words(`${this.#links.before(text)}${text}`);
    const tall = this.#isTall && this.#writers.length === 1 ? this.#tall.get(this.#column) : undefined;
    if (tall) tall.text = `${tall.text}${text}`.slice(0, tallAtMost);
    for (const comment of this.#comments.slice(-commentsAtOnce)) {
      if (this.#asides === 0 && comment.about.length < aboutAtMost) comment.about += text;
    }
  }

  #openList(attributes: Attributes): void {
    const outer = this.#lists.at(-1);
    const style = attributes["text:style-name"] ?? outer?.style ?? "";
    const goesOn = attributes["text:continue-numbering"] === "true" || attributes["text:continue-list"] !== undefined;
    if (outer?.style !== style && !goesOn) this.#counts.restart(style);
    this.#lists.push({ style, level: (outer?.level ?? 0) + 1, mark: "", from: undefined });
  }

  #item(item: Pick<List, "mark" | "from">, isNumbered: boolean): void {
    const list = this.#lists.at(-1);
    if (list) Object.assign(list, isNumbered ? item : { mark: "" });
  }

  /** Begins a paragraph; the first one of an item has its mark or number. */
  #begin(name: string, attributes: Attributes): void {
    const list = this.#lists.at(-1);
    let mark = "";
    if (list && list.mark === undefined && this.#asides === 0) {
      mark = this.#counts.next(list.style, list.level, list.from);
      list.mark = mark;
    }
    const level = numberOf(attributes["text:outline-level"]) ?? 1;
    if (name === "text:h") {
      if (!mark && attributes["text:is-list-header"] !== "true") mark = this.#counts.next(outline, level);
      this.#writer.heading(level);
    } else this.#writer.paragraph();
    if (mark && !(name === "text:h" && mark === "-")) this.#writer.mark(mark);
  }

  /** A formula or a chart, which has a part of its own. */
  #object(href: string): void {
    const xml = this.#archive.text(`${href.replace(/^\.\/|\/$/g, "")}/content.xml`);
    if (!xml) return;
    const tree = treeOf(xml);
    const formula = firstIn(tree, "math") ?? firstIn(tree, "math:math");
    if (formula) this.#say(` ${formulaText(formula)} `);
    else {
      this.#writer.paragraph();
      for (const row of objectRows(this.#archive, `${href}/content.xml`)) {
        this.#writer.line();
        this.#writer.text(row.join(" | "));
      }
      this.#writer.paragraph();
    }
  }

  /** A field of a form, which is defined before the text; the place in the text refers to the field by its id. */
  #formPart(name: string, attributes: Attributes): void {
    const id = attributes["xml:id"] ?? attributes["form:id"];
    const label = attributes["form:label"] ?? "";
    if (name === "form:option" || name === "form:item") {
      if (attributes["form:current-selected"] === "true") this.#controls.set(this.#control, label);
    } else if (id) {
      this.#control = id;
      const isBox = name === "form:checkbox";
      const isChosen = isBox
        ? attributes["form:current-state"] === "checked"
        : attributes["form:current-selected"] === "true";
      if (name === "form:password") return;
      const answer = attributes["form:current-value"] ?? attributes["form:value"] ?? "";
      if (isBox || name === "form:radio")
        this.#controls.set(id, `${isBox ? box(isChosen) : isChosen ? "[elegida] " : ""}${label}`);
      else if (name !== "form:button") this.#controls.set(id, answer);
    }
  }
}

const box = (isTicked: boolean) => (isTicked ? "[marcada] " : "[sin marcar] ");

function numberOf(text: string | undefined): number | undefined {
  const number = Number(text);
  return text === undefined || !Number.isFinite(number) ? undefined : number;
}
