import { type Block, isClosed, parseBlocks } from "./blocks.server.ts";
import { closingTags, continuation, withoutClosingTags } from "./html.server.ts";
import { escapeHtml, markdown, type RenderEnv, renderMarkdown } from "./render.server.ts";
import { mayBeOtherBlock, textEnds, unclosed } from "./sentences.server.ts";

/**
 * The result of feeding a piece of text. `append` is for documents that can only grow; `closed` and `open` describe the same
 * state for pages that can replace their last block.
 */
export type Step = {
  /** Length of the text that was fed. */
  length: number;
  /** HTML to add to a document that can only grow. */
  append: string;
  /** Blocks that are complete now, whole. */
  closed: string[];
  /** The open block as far as it is rendered, its tags left open, and the source after that part; in code, the source is not trimmed. */
  open: { html: string; rest: string; isCode: boolean };
};

// An open block is rendered anew at each line, so its size bounds the work: code goes on plain from here, tables start
// again with their head, lists and quotes as another one. The finished message is rendered whole.
const largestBlock = { characters: 3_000, lines: 60 };

// An unfinished line is looked at again with each token, so it is bounded as well: what is longer goes on as another line until
// the finished message is rendered whole.
const longestLine = 2_000;

// Characters that are rendered before other requests have their turn: a reload in mid-reply brings all of the text at once.
const pieceLength = 250;

// A word is complete when the first character of the next word has come.
const wordBegun = /(?<=\n)|(?<=[ \t]\S)/;
// The mark of a list's item, with the blanks around it.
const itemStart = /^ {0,12}(?:[-+*]|\d{1,9}[.)]) {1,4}(?=\S)/;
// Words that render as they are: nothing in them can be a mark, a link or need escaping. Most of a reply is made of them, and
// asking the renderer for each costs four times as much.
const plainWords = /^[\p{L}\p{N}]+(?: [\p{L}\p{N}]+)*[,.;:!?…]? ?$/u;
// A character of the private use area, which models do not write for readers.
const standIn = "\uE000";
const none: ReadonlyMap<string, undefined> = new Map();

/**
 * Markdown as it arrives → HTML in blocks. The open block grows by whole sentences, lines, rows or items; at most one is held
 * back. With `byWord`, paragraphs and items of lists grow by words, for documents where `append` is all that is shown; for pages that
 * replace their last block, each word would send the whole block again. The state depends on the text alone, not on how it was cut into
 * pieces.
 */
export class MarkdownStream {
  readonly #env: RenderEnv;
  readonly #byWord: boolean;
  /** Source from the start of the open block on. */
  #source = "";
  /** How many lines of the open block were rendered. */
  #lines = 0;
  /** The open block's kind, as its whole lines make it. */
  #block: Block | undefined;
  /** The first lines of a table or of code that goes on in a new block. */
  #head = "";
  #hasCutLine = false;
  /** HTML of the open block, and the end of the source that it shows. */
  #html = "";
  #htmlTo = 0;
  /** The part of `#html` that `append` has given out; it stays shorter where later text changed how earlier text is rendered. */
  #given = "";
  #givenTo = 0;
  /** Emphasis that a paragraph's last sentence left open. */
  #carry = "";
  #heldReturn = "";

  constructor(env: RenderEnv = {}, { byWord = false } = {}) {
    this.#env = { ...env, references: {}, isGrowing: true };
    this.#byWord = byWord;
  }

  push(text: string): Step {
    // A CR at the end may be half of a CRLF.
    const arrived = this.#heldReturn + text;
    this.#heldReturn = arrived.endsWith("\r") ? "\r" : "";
    const added = arrived.slice(0, arrived.length - this.#heldReturn.length).replace(/\r\n?/g, "\n");
    const closed: string[] = [];
    let append = "";
    for (const part of this.#cut(added.replaceAll("\0", "\uFFFD"))) append += this.#addInBounds(part, closed);
    const rest = this.#source.slice(this.#htmlTo);
    const isCode = this.#block?.type === "fence" && this.#html !== "";
    return {
      length: text.length,
      append,
      closed,
      open: { html: this.#html, rest: isCode ? rest : rest.trimStart(), isCode },
    };
  }

  /** Cuts text into lines or, with `byWord`, where each word begins: also a first word, if the last text ended with a blank. */
  #cut(text: string): string[] {
    if (!this.#byWord) return text.split(/(?<=\n)/);
    const blank = /[ \t]$/.exec(this.#source)?.[0] ?? "";
    return `${blank}${text}`.split(wordBegun).map((part, index) => (index === 0 ? part.slice(blank.length) : part));
  }

  /** Like `push`, in pieces, so that a long text holds up nobody else. */
  async *feed(text: string): AsyncGenerator<Step> {
    for (let at = 0; at < text.length; at += pieceLength) {
      if (at > 0) await new Promise((resolve) => setImmediate(resolve));
      yield this.push(text.slice(at, at + pieceLength));
    }
  }

  /** The text is over: everything still open is closed. */
  end(): Step {
    const closed: string[] = [];
    let append = "";
    if (this.#source && !this.#source.endsWith("\n")) {
      this.#source += "\n";
      append += this.#addLine(closed);
    }
    append += this.#close(this.#source.length, closed);
    return { length: 0, append, closed, open: { html: "", rest: "", isCode: false } };
  }

  /** Adds a line, or a part of one, in lines of at most `longestLine` characters. */
  #addInBounds(line: string, closed: string[]): string {
    let append = "";
    let rest = line;
    for (let room = this.#roomInLine(); rest.length > room; room = longestLine) {
      this.#hasCutLine = true;
      this.#source += `${rest.slice(0, room)}\n`;
      append += this.#addLine(closed);
      rest = rest.slice(room);
    }
    this.#source += rest;
    return append + (rest.endsWith("\n") ? this.#addLine(closed) : this.#addPart());
  }

  /** How many characters the last line may still get. */
  #roomInLine(): number {
    return longestLine - (this.#source.length - this.#source.lastIndexOf("\n") - 1);
  }

  #addPart(): string {
    if (this.#byWord && this.#isInList()) return this.#grow(this.#item(false));
    return !this.#block || this.#block.type === "paragraph" ? this.#grow(this.#paragraph()) : "";
  }

  #addLine(closed: string[]): string {
    const line = this.#source.slice(this.#source.lastIndexOf("\n", this.#source.length - 2) + 1);
    if (this.#block?.type === "fence") {
      if (isClosed(this.#block, this.#source)) return this.#close(this.#source.length, closed);
      this.#lines += 1;
      const append = this.#grow(this.#code(line));
      return this.#source.length > 4 * largestBlock.characters ? append + this.#split(closed) : append;
    }
    // Indented text goes on with the last item, which is held back anyway.
    if (this.#block?.type.endsWith("_list") && /^\s*$|^ {2,}(?![-+*\d])/.test(line)) {
      return this.#source.length > largestBlock.characters ? this.#close(this.#source.length, closed) : "";
    }
    const append = this.#closeBlocks(closed) + this.#growBlock();
    this.#lines += 1;
    const large = this.#source.length > largestBlock.characters || this.#lines > largestBlock.lines;
    return large ? append + this.#split(closed) : append;
  }

  /** Closes every top-level block that is followed by another one or can't go on. Only whole lines decide. */
  #closeBlocks(closed: string[]): string {
    let append = "";
    let done = 0;
    const head = this.#head.length;
    const blocks = parseBlocks(this.#head + this.#source);
    if (blocks.length === 0) this.#source = "";
    this.#block = blocks.at(-1);
    for (const [index, block] of blocks.entries()) {
      const next = blocks[index + 1];
      if (!next && !isClosed(block, this.#source.slice(Math.max(0, block.start - head - done)))) break;
      const end = next ? next.start - head : done + this.#source.length;
      append += this.#close(end - done, closed, next);
      done = end;
    }
    return append;
  }

  /** Takes the first `length` characters of the open source as one finished block; `next` is the one that is open then. */
  #close(length: number, closed: string[], next?: Block): string {
    const source = this.#source.slice(0, length);
    const html = this.#render(source);
    const append = continuation(this.#given, html) ?? this.#finish(source);
    if (html) closed.push(html);
    this.#source = this.#source.slice(length);
    this.#block = next;
    this.#head = "";
    this.#hasCutLine = false;
    this.#html = this.#given = this.#carry = "";
    this.#htmlTo = this.#givenTo = this.#lines = 0;
    return append;
  }

  /**
   * The end of a block whose final rendering differs from what a growing document already shows: the shown part stays, and
   * only the source after it is rendered.
   */
  #finish(source: string): string {
    const rest = source.slice(this.#givenTo);
    if (this.#given.startsWith("<p>")) return `${this.#inline(rest.trimEnd())}</p>\n`;
    return closingTags(this.#given) + this.#render(rest);
  }

  /** Closes a block that has become too large where it may be cut, and goes on with the rest of it. */
  #split(closed: string[]): string {
    const { type = "", lastItem = 0 } = this.#block ?? {};
    const isList = type.endsWith("_list");
    const item = isList ? lastItem - this.#head.length : 0;
    // A single item that is too large is cut at the end of the source so far.
    const cut = item > 0 ? item : this.#source.length;
    if (isList && item <= 0 && cut <= largestBlock.characters) return "";
    const head = this.#headOf(type);
    const append = this.#close(cut, closed, this.#block);
    this.#head = head;
    if (!head && item <= 0) this.#block = undefined;
    return append;
  }

  /** The first lines of a table or a block of code, repeated in the new block in which it goes on. */
  #headOf(type: string): string {
    if (this.#head) return this.#head;
    if (type === "table") return /^.*\n.*\n/.exec(this.#source)?.[0] ?? "";
    return type === "fence" ? (/^.*\n/.exec(this.#source)?.[0] ?? "") : "";
  }

  /** Takes new HTML of the open block; returns the HTML to add to a document, empty if the text already shown has changed. */
  #grow(html: string): string {
    this.#html = html;
    const append = continuation(this.#given, html);
    if (append === undefined) return "";
    this.#given += append;
    this.#givenTo = this.#htmlTo;
    return append;
  }

  #growBlock(): string {
    if (!this.#block || this.#block.type === "paragraph") return this.#grow(this.#paragraph());
    const { type, lastItem } = this.#block;
    if (type.endsWith("_list")) {
      return this.#grow(this.#byWord ? this.#item(true) : this.#items(lastItem - this.#head.length));
    }
    if (!["fence", "table", "blockquote", "code_block"].includes(type)) return "";
    // Emphasis over two lines of a quote can't be shown by halves.
    if (type === "blockquote" && unclosed(this.#source)) return "";
    this.#htmlTo = this.#source.length;
    return this.#grow(withoutClosingTags(this.#render(this.#source)));
  }

  #paragraph(): string {
    let html = this.#html;
    for (const end of textEnds(this.#source, this.#htmlTo, this.#byWord)) {
      html = (html || "<p>") + this.#inline(this.#source.slice(this.#htmlTo, end));
      this.#htmlTo = end;
    }
    return html;
  }

  /** Renders a stretch of inline text; emphasis left open is closed at its end and reopened in the next stretch. */
  #inline(text: string): string {
    const [, space = "", words = ""] =
      /^((?:\\\n|\s)*)([\s\S]*)$/.exec(this.#htmlTo === 0 ? text.trimStart() : text) ?? [];
    if (!this.#carry && (space === "" || space === " ") && plainWords.test(words)) return space + words;
    const source = space + this.#carry + words;
    this.#carry = unclosed(this.#carry + words);
    const marks = [...this.#carry.matchAll(/([*_~])\1*/g)].map(([run]) => run);
    return markdown.renderInline(source + marks.reverse().join(""), this.#env);
  }

  /** The items of a list but the last: it may go on, and the text after it decides whether the list is loose. */
  #items(lastItem: number): string {
    const html = this.#render(this.#source);
    const before = html.slice(0, Math.max(html.lastIndexOf("<li"), 0));
    if (!before.includes("<li")) return this.#html;
    this.#htmlTo = lastItem;
    return before;
  }

  /** Whether the last line, which is not complete, goes on with a list or begins one. */
  #isInList(): boolean {
    return this.#block ? this.#block.type.endsWith("_list") : itemStart.test(this.#source);
  }

  /** The items of a list up to the words of the last line, if this line begins an item. `whole`: the line is complete. */
  #item(whole: boolean): string {
    const source = whole ? this.#source.trimEnd() : this.#source;
    const lineStart = source.lastIndexOf("\n") + 1;
    const [start] = itemStart.exec(source.slice(lineStart)) ?? [];
    const from = lineStart + (start?.length ?? 0);
    const text = source.slice(from);
    if (!start || mayBeOtherBlock(text)) return this.#html;
    const ends = textEnds(text, Math.max(0, this.#htmlTo - from), true);
    if (whole && (ends.at(-1) ?? 0) < text.length) ends.push(text.length);
    if (ends.length === 0) return this.#html;
    let html = this.#html;
    if (this.#htmlTo < from) {
      // The marker before an item's text depends on the items before it, so the renderer makes it.
      const begun = this.#render(source.slice(0, from) + standIn);
      html = begun.slice(0, begun.indexOf(standIn));
      this.#htmlTo = from;
      this.#carry = "";
    }
    for (const end of ends) {
      html += this.#inline(source.slice(this.#htmlTo, from + end));
      this.#htmlTo = from + end;
    }
    return html;
  }

  #code(line: string): string {
    this.#htmlTo = this.#source.length;
    const large = this.#source.length > largestBlock.characters || this.#lines > largestBlock.lines;
    if (large) return this.#html + escapeHtml(line);
    return withoutClosingTags(this.#render(this.#source));
  }

  /** Renders a source. Code that was split, or of which a line was cut, is no drawing. */
  #render(source: string): string {
    const isPart = this.#head !== "" || this.#hasCutLine;
    return renderMarkdown(this.#head + source, isPart ? { ...this.#env, drawn: none } : this.#env);
  }
}
