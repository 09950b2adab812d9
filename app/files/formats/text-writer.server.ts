/** Whether a header or footer says something: a number of pages does not, the number of a file does. */
export const isTelling = (aside: string): boolean => /\p{L}|\d{3,}[./-]?\d{2,}|\d{2,}[./-]\d{2,}/u.test(aside);

/** Writes the text of a document as its parts come: paragraphs, headings and items as in Markdown, rows with bars between cells. */
export class TextWriter {
  readonly #pages: string[] = [];
  #lines: string[] = [];
  #line = "";
  /** Beginning of the line as it was given: a heading, item or note with nothing after it is left out. */
  #mark = "";
  /** Whether the line is an item of a list, whose first paragraph stands behind its mark. */
  #isItem = false;
  #isStruck = false;
  /** Whether the line is empty or ends in a blank: kept, because a check of the whole line for each word would be slow. */
  #endsInBlank = true;
  #cells: number | undefined;
  #isCell = false;
  /** Length of the line where the open cell begins, and the sign before the next cell of a table within it. */
  #cellAt = 0;
  #innerSign = "";
  /** Nothing has been written on this page. */
  #isEmpty = true;

  text(text: string): void {
    if (text === "") return;
    this.#line += text;
    this.#endsInBlank = /\s/.test(text.slice(-1));
  }

  /** Mark or number of the line that was begun; a line with nothing after it is left out. */
  mark(mark: string): void {
    this.text(`${mark} `);
    if (!this.#isCell) this.#mark = this.#line.trimEnd();
  }

  /** Words as they stand in markup, where any blanks are one. */
  words(text: string): void {
    const words = text.replace(/\s+/g, " ");
    this.text(this.#endsInBlank ? words.trimStart() : words);
  }

  /** Begins a line; in a cell, writes a blank instead. */
  line(mark = ""): void {
    if (this.#isCell) {
      this.words(" ");
      return;
    }
    const written = this.#written();
    if (written) this.#lines.push(written);
    else if (this.#lines.at(-1) !== "" && !this.#isEmpty) this.#lines.push("");
    this.#isEmpty = false;
    this.#begin(mark);
  }

  /** Begins text that is struck out, or ends it; nothing where the text so far is as it is to be. */
  strike(isStruck: boolean): void {
    if (isStruck !== this.#isStruck) this.text(isStruck ? "[tachado: " : "]");
    this.#isStruck = isStruck;
  }

  /** Begins an item of a list. */
  item(mark: string): void {
    this.line(mark);
    this.#isItem = !this.#isCell;
  }

  #begin(mark: string): void {
    this.#line = mark;
    this.#isItem = false;
    this.#mark = mark.trimEnd();
    this.#endsInBlank = mark === "" || mark.endsWith(" ");
  }

  paragraph(mark = ""): void {
    if (this.#isItem && mark === "" && this.#written() === "") return;
    if (!this.#isCell) this.line();
    this.line(mark);
  }

  heading(level: number): void {
    this.paragraph(`${"#".repeat(Math.min(6, Math.max(1, level)))} `);
  }

  row(): void {
    this.#isCell = false;
    this.line();
    this.#cells = 0;
  }

  cell(): void {
    if (this.#cells === undefined) this.row();
    if (this.#cells) this.text(this.#endsInBlank ? "| " : " | ");
    this.#cells = (this.#cells ?? 0) + 1;
    this.#isCell = true;
    this.#cellAt = this.#line.length;
  }

  /** Text of the open cell so far. */
  get cellText(): string {
    return this.#isCell ? this.#line.slice(this.#cellAt).trim() : "";
  }

  /** Begins a row of a table within a cell, whose rows stay in the line of the cell. */
  innerRow(): void {
    this.#innerSign = "; ";
  }

  innerCell(): void {
    const before = this.#line.slice(this.#cellAt).trimEnd();
    this.#line = this.#line.slice(0, this.#cellAt) + before;
    if (before) this.text(/[:;,]$/.test(before) ? " " : this.#innerSign);
    this.#innerSign = " · ";
  }

  /** After the last row of a table. */
  endTable(): void {
    this.#isCell = false;
    this.#cells = undefined;
    this.paragraph();
  }

  /** Ends a page; the next begins empty. */
  page(): void {
    this.#pages.push(this.#ended());
    this.#lines = [];
    this.#begin("");
    this.#isCell = false;
    this.#cells = undefined;
    this.#isEmpty = true;
  }

  /** All pages, and what is after the last one if it is not empty. */
  pages(): string[] {
    const last = this.#ended();
    return last ? [...this.#pages, last] : this.#pages;
  }

  toString(): string {
    return this.pages().join("\n\n");
  }

  #written(): string {
    const written = this.#line.trimEnd();
    return written === this.#mark ? "" : written;
  }

  #ended(): string {
    return [...this.#lines, this.#written()]
      .join("\n")
      .replace(/\n{3,}/g, "\n\n")
      .trim();
  }
}
