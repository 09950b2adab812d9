import { Parser } from "htmlparser2";
import { TreeBuilder } from "../../process/text/xml.server.ts";
import { formulaText, superscript } from "./math.server.ts";
import { formatted } from "./office/numbering.server.ts";
import { isWingdings, wingdingSigns } from "./symbol-font.server.ts";
import { TextWriter } from "./text-writer.server.ts";

// Elements that are not read: programs, decoration, and navigation.
const unread = new Set([
  ...["script", "style", "noscript", "template", "iframe", "object", "nav"],
  ...["metadata", "defs", "desc", "rt", "rp"],
]);
const blocks = new Set(
  "p div section article main header footer aside address blockquote figure figcaption dl dt dd ul ol form fieldset legend details summary hr text".split(
    " ",
  ),
);

// Without this option, <script/> would hide the rest of a page.
const parsing = { recognizeSelfClosing: true };

/** The text of an HTML page, with its headings, lists and tables. */
export function htmlText(html: string): string {
  const writer = new TextWriter();
  let hidden = 0;
  let verbatim = 0;
  let isRaised = false;
  let isNote = false;
  /** The open lists; undefined for those without numbers. */
  const lists: (NumberedList | undefined)[] = [];
  let formula: TreeBuilder | undefined;
  /** Whether the options of a list that are read are chosen; undefined outside of lists. */
  let isChosen: boolean | undefined;
  const frames = framesIn(html);
  let tables = 0;
  /** The open tables; undefined for one that is a frame for what stands in it. */
  const open: (SpannedCells | InnerCells | undefined)[] = [];
  /** The element whose letters are signs of Wingdings, or whose text is struck out, and how many of its name are open within it. */
  let drawn: { name: string; depth: number; font: string } | undefined;
  let struck: { name: string; depth: number } | undefined;
  /** The element that is not shown, and how many of its name are open within it. */
  let veil: { name: string; depth: number } | undefined;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        const isFrame =
          name === "table" && (frames.has(tables++) || /^(?:presentation|none)$/.test(attributes.role ?? ""));
        if (veil) {
          if (name === veil.name) veil.depth++;
          return;
        }
        if (unread.has(name)) hidden++;
        if (hidden > 0) return;
        if (formula) return formula.open(name, attributes);
        if (isVeiled(name, attributes)) {
          veil = { name, depth: 1 };
          return;
        }
        const { alt, face, style = "" } = attributes;
        if (drawn?.name === name) drawn.depth++;
        const [, font = face] = /font-family\s{0,9}:\s{0,9}["']?(wingdings(?: 2)?)/i.exec(style) ?? [];
        if (!drawn && isWingdings(font)) drawn = { name, depth: 1, font };
        if (struck?.name === name) struck.depth++;
        if (!struck && (strikes.has(name) || (name === "span" && /line-through/i.test(style)))) {
          struck = { name, depth: 1 };
          writer.words("[tachado: ");
        }
        if (name === "select") {
          isChosen = false;
          writer.words(" ");
        } else if (name === "option") isChosen = "selected" in attributes;
        else if (name === "input") writer.words(answerOf(attributes));
        else if (name === "label") writer.line();
        else if (name === "math") formula = new TreeBuilder(name);
        else if (name === "sup") isRaised = true;
        else if (isNoteMark(name, attributes)) isNote = true;
        const level = /^h([1-6])$/.exec(name)?.[1];
        if (level) writer.heading(Number(level));
        else if (name === "li") writer.item(itemMark(lists, attributes.value));
        else if (name === "br") writer.line();
        else if (name === "table") {
          const isInner = open.at(-1) !== undefined;
          open.push(isInner ? new InnerCells(writer) : isFrame ? undefined : new SpannedCells(writer));
        } else if (cells.has(name) && open.length > 0 && !open.at(-1)) writer.line();
        else if (name === "tr") {
          if (open.length > 0) open.at(-1)?.row();
          else writer.row();
        } else if (name === "td" || name === "th") {
          if (open.length > 0) open.at(-1)?.cell(spanOf(attributes.rowspan), spanOf(attributes.colspan));
          else writer.cell();
        } else if (name === "pre" || name === "textarea") {
          verbatim++;
          writer.paragraph();
        } else if (blocks.has(name)) writer.paragraph();
        else if (name === "img" && alt) writer.words(` ${alt} `);
        if (name === "ol") lists.push(numberedList(attributes));
        else if (name === "ul") lists.push(undefined);
      },
      onclosetag(name) {
        if (veil) {
          if (name === veil.name && --veil.depth === 0) veil = undefined;
          return;
        }
        if (unread.has(name)) hidden = Math.max(0, hidden - 1);
        if (hidden > 0) return;
        if (drawn?.name === name && --drawn.depth === 0) drawn = undefined;
        if (struck?.name === name && --struck.depth === 0) {
          struck = undefined;
          writer.words("]");
        }
        if (formula && name === "math") {
          writer.words(` ${formulaText(formula.root)} `);
          formula = undefined;
        }
        if (formula) return formula.close();
        if (name === "select") isChosen = undefined;
        else if (name === "option") isChosen = false;
        else if (name === "table") {
          if (!(open.pop() instanceof InnerCells)) writer.endTable();
        } else if (name === "tr") open.at(-1)?.endRow();
        else if (rowGroups.has(name)) open.at(-1)?.endGroup();
        else if (name === "sup") isRaised = false;
        else if (name === "a") isNote = false;
        else if (name === "pre" || name === "textarea") verbatim = Math.max(0, verbatim - 1);
        if (name === "ol" || name === "ul") lists.pop();
        // After a list within an item, the item's own next line is begun by itself.
        if (/^h[1-6]$/.test(name) || (blocks.has(name) && ((name !== "ul" && name !== "ol") || lists.length === 0)))
          writer.line();
      },
      ontext(given) {
        const text = drawn ? wingdingSigns(given, drawn.font) : given;
        if (veil || hidden > 0 || isChosen === false) return;
        if (formula) formula.text(text);
        else if (verbatim > 0) writer.text(text);
        else writer.words(isRaised || isNote ? superscript(text) : text);
      },
    },
    parsing,
  );
  parser.end(html);
  return writer.toString();
}

// Rows and columns that a cell may reach over: more are a mistake.
const spanAtMost = 100;
const spanOf = (given: string | undefined) => Math.min(spanAtMost, Math.max(1, Number.parseInt(given ?? "1", 10) || 1));
// Columns of such cells; length of the text of one that is written again, and of all that is written so in a table.
const tallAtMost = 500;
const repeatedAtMost = 200;
const repeatedInAll = 300_000;

/**
 * Cells of a table that reach over several columns or rows. Over columns, they keep their places, so that the next one stands under its own
 * heading; over rows, their text is written in each, so that a row says what it is about.
 */
class SpannedCells {
  readonly #writer: TextWriter;
  #column = 0;
  /** Columns that the open cell still takes. */
  #places = 0;
  /** Texts of cells that reach over more rows, and over how many, by their columns. */
  readonly #tall = new Map<number, { text: string; rows: number }>();
  /** The open cell, if it is one of them. */
  #open: { text: string } | undefined;
  #left = repeatedInAll;

  constructor(writer: TextWriter) {
    this.#writer = writer;
  }

  row(): void {
    this.#writer.row();
    [this.#column, this.#places, this.#open] = [0, 0, undefined];
    for (const [column, { rows }] of this.#tall) if (rows === 0) this.#tall.delete(column);
  }

  cell(rows: number, columns: number): void {
    this.#close();
    this.#goOn();
    this.#writer.cell();
    if (rows > 1 && this.#left >= 0 && this.#tall.size < tallAtMost) {
      const own = { text: "", rows: rows - 1 };
      for (let n = 1; n < columns; n++) this.#tall.set(this.#column + n, { text: "", rows: rows - 1 });
      this.#tall.set(this.#column, own);
      this.#open = own;
    }
    this.#column++;
    this.#places = columns - 1;
  }

  endRow(): void {
    this.#close();
    for (const [column, { rows, text }] of this.#tall) {
      if (column < this.#column || rows === 0 || !text) continue;
      this.#goOn();
      return;
    }
  }

  #close(): void {
    if (this.#open) this.#open.text = this.#writer.cellText.slice(0, repeatedAtMost);
    this.#open = undefined;
  }

  /** Ends the group of rows, over whose end no cell reaches. */
  endGroup(): void {
    this.#tall.clear();
  }

  /** Writes the places that the open cell takes, and the cells from above that stand next. */
  #goOn(): void {
    if (this.#left < 0) return;
    for (; this.#places > 0; this.#places--) this.#place("");
    for (let above = this.#tall.get(this.#column); above?.rows; above = this.#tall.get(this.#column)) {
      above.rows--;
      this.#place(above.text);
    }
  }

  #place(text: string): void {
    this.#left -= text.length + 1;
    if (this.#left < 0) {
      this.#tall.clear();
      return;
    }
    this.#writer.cell();
    this.#writer.words(text);
    this.#column++;
  }
}

/** Cells of a table within a cell of another, whose rows stay in the line of that cell. */
class InnerCells {
  readonly #writer: TextWriter;

  constructor(writer: TextWriter) {
    this.#writer = writer;
  }

  row(): void {
    this.#writer.innerRow();
  }

  cell(): void {
    this.#writer.innerCell();
  }

  endRow(): void {}
  endGroup(): void {}
}

const rowGroups = new Set(["tbody", "thead", "tfoot"]);
const strikes = new Set(["del", "s", "strike"]);
const cells = new Set(["tr", "td", "th"]);
const parts = new Set(["div", "span", "p", "td", "tr", "table", "li", "a", "font", "center", "section"]);

/** Whether an element is not shown, such as the beginning that an e-mail has for lists alone. Scripts may show what holds a whole page. */
const isVeiled = (name: string, { style = "", hidden }: Record<string, string>) =>
  parts.has(name) &&
  ((hidden !== undefined && hidden !== "until-found") ||
    /(?:^|;)\s{0,9}(?:display\s{0,9}:\s{0,9}none|visibility\s{0,9}:\s{0,9}hidden)/i.test(style));

/** A mark of a note in a book, which is raised by its style alone. */
const isNoteMark = (name: string, { role, "epub:type": type }: Record<string, string>) =>
  name === "a" && (type === "noteref" || role === "doc-noteref");

// Rows with texts of their own in several cells: a table with so many has data, although one of its cells holds a table.
const tellingRows = 2;

/** The tables that hold other tables and no data, by their order: they only place things on the page, as in most e-mails. */
function framesIn(html: string): Set<number> {
  const frames = new Set<number>();
  const open: { index: number; holds: boolean; telling: number; said: number; isSaid: boolean }[] = [];
  let count = 0;
  const endCell = () => {
    const table = open.at(-1);
    if (!table) return;
    if (table.isSaid) table.said++;
    table.isSaid = false;
  };
  const endRow = () => {
    endCell();
    const table = open.at(-1);
    if (!table) return;
    if (table.said > 1) table.telling++;
    table.said = 0;
  };
  const parser = new Parser(
    {
      onopentag(name) {
        if (name === "tr") endRow();
        else if (name === "td" || name === "th") endCell();
        if (name !== "table") return;
        const outer = open.at(-1);
        if (outer) outer.holds = true;
        open.push({ index: count++, holds: false, telling: 0, said: 0, isSaid: false });
      },
      ontext(text) {
        const table = open.at(-1);
        if (table && /\S/.test(text)) table.isSaid = true;
      },
      onclosetag(name) {
        if (name !== "table") return;
        endRow();
        const table = open.pop();
        if (table?.holds && table.telling < tellingRows) frames.add(table.index);
      },
    },
    parsing,
  );
  parser.end(html);
  return frames;
}

// Roman numerals and letters of longer lists are no longer read by anybody.
const countedAtMost = 4_000;

const typed = new Set(["text", "email", "tel", "url", "number", "date", "time", "month", "week", "datetime-local"]);

/** Answer that a field of a form has; empty for buttons, hidden fields and passwords. */
function answerOf({ type = "text", value, checked }: Record<string, string>): string {
  const kind = type.toLowerCase();
  if (kind === "checkbox" || kind === "radio") return checked === undefined ? " [sin marcar] " : " [marcada] ";
  return typed.has(kind) && value ? ` ${value} ` : "";
}

/** A list with numbers: that of its next item, and how they are written. */
type NumberedList = { next: number; format: string };

const listFormats: Record<string, string> = { a: "lowerLetter", A: "upperLetter", i: "lowerRoman", I: "upperRoman" };

const numberedList = ({ start = "1", type = "1" }: Record<string, string>): NumberedList => ({
  next: Number.parseInt(start, 10) || 1,
  format: listFormats[type] ?? "decimal",
});

/** Mark of the next item of the innermost list; `value`: its own number, if it has one. */
function itemMark(lists: (NumberedList | undefined)[], value = ""): string {
  const list = lists.at(-1);
  if (!list) return "- ";
  const own = Number.parseInt(value, 10);
  const number = Number.isNaN(own) ? list.next : own;
  list.next = number + 1;
  return `${number > 0 && number < countedAtMost ? formatted(number, list.format) : number}. `;
}
