import { markdown, type RenderEnv, renderMarkdown } from "./render.server.ts";
import { sentenceEnds, unclosed } from "./sentences.server.ts";

/** What came of a piece of text. The three are views of the same state, for the two ways of showing it. */
export type Step = {
  /** HTML to add to a document that can only grow. */
  append: string;
  /** Blocks that are complete now, whole. */
  closed: string[];
  /** The open block as far as it is rendered, its tags left open, and the source after that. */
  open: { html: string; rest: string };
};

type BlockToken = ReturnType<typeof markdown.parse>[number];
type Block = { type: string; markup: string; start: number };

/**
 * Markdown as it arrives → HTML in blocks (architecture.md §4). Inside the open block it goes on by sentence, line, row or
 * item, and holds back no more than one. The state is a function of the text alone, however it was cut on the way.
 */
export class MarkdownStream {
  readonly #env: RenderEnv;
  /** Source from the start of the open block on. */
  #source = "";
  /** HTML of the open block that `append` has given out, and where its source ends. */
  #given = "";
  #givenTo = 0;
  /** Emphasis that a paragraph's last sentence left open. */
  #carry = "";
  /** The open block, as its whole lines make it. */
  #block: Block | undefined;
  #openHtml = "";
  #heldReturn = "";

  constructor(env: RenderEnv = {}) {
    this.#env = { ...env, references: {} };
  }

  push(text: string): Step {
    // A CR at the end may be half of a CRLF.
    const arrived = this.#heldReturn + text;
    this.#heldReturn = arrived.endsWith("\r") ? "\r" : "";
    const added = arrived
      .slice(0, arrived.length - this.#heldReturn.length)
      .replace(/\r\n?/g, "\n")
      .replaceAll("\0", "\uFFFD");
    this.#source += added;
    const step = { append: "", closed: [] as string[] };
    const newLine = added.includes("\n");
    if (newLine) step.append += this.#closeBlocks(step.closed);
    if (newLine || !this.#block || this.#block.type === "paragraph") step.append += this.#growOpenBlock();
    return { ...step, open: this.#open() };
  }

  /** The text is over: everything still open is closed. */
  end(): Step {
    const step = { append: "", closed: [] as string[] };
    if (!this.#source.endsWith("\n")) this.#source += "\n";
    step.append += this.#closeBlocks(step.closed);
    if (this.#source.trim()) step.append += this.#close(this.#source.length, step.closed);
    return { ...step, open: { html: "", rest: "" } };
  }

  #open(): Step["open"] {
    return { html: this.#openHtml, rest: this.#source.slice(this.#givenTo).trimStart() };
  }

  /** Closes every top-level block that is followed by another one or can't go on. Only whole lines decide. */
  #closeBlocks(closed: string[]): string {
    let append = "";
    let done = 0;
    const lines = this.#wholeLines();
    const blocks = parseBlocks(lines);
    for (const [index, block] of blocks.entries()) {
      const next = blocks[index + 1];
      if (!next && !isClosed(block, lines.slice(block.start))) break;
      const end = next ? next.start : lines.length;
      append += this.#close(end - done, closed);
      done = end;
    }
    return append;
  }

  #wholeLines(): string {
    return this.#source.slice(0, this.#source.lastIndexOf("\n") + 1);
  }

  /** Takes the first `length` characters of the open source as one finished block. */
  #close(length: number, closed: string[]): string {
    const source = this.#source.slice(0, length);
    const html = renderMarkdown(source, this.#env);
    const append = html.startsWith(this.#given) ? html.slice(this.#given.length) : this.#finishDifferently(source);
    if (html) closed.push(html);
    this.#source = this.#source.slice(length);
    this.#given = "";
    this.#givenTo = 0;
    this.#carry = "";
    this.#block = undefined;
    this.#openHtml = "";
    return append;
  }

  /** The whole renders otherwise than what a growing document already shows: its text goes on, closed as it stands. */
  #finishDifferently(source: string): string {
    const rest = source.slice(this.#givenTo);
    if (this.#given.startsWith("<p>")) {
      const text = /^\s*(=+|-+)\s*$/.test(rest) ? "" : rest.trimEnd();
      return `${this.#inline(text)}</p>\n`;
    }
    return closingTags(this.#given) + renderMarkdown(rest, this.#env);
  }

  #growOpenBlock(): string {
    const lines = this.#wholeLines();
    this.#block = parseBlocks(lines)[0];
    const grown =
      this.#block && this.#block.type !== "paragraph" ? this.#growBlock(this.#block, lines) : this.#growParagraph();
    const append = grown.startsWith(this.#given) ? grown.slice(this.#given.length) : "";
    if (append) this.#given = grown;
    this.#openHtml = grown;
    return append;
  }

  #growParagraph(): string {
    let html = this.#given;
    for (const end of sentenceEnds(this.#source, this.#givenTo)) {
      html = (html || "<p>") + this.#inline(this.#source.slice(this.#givenTo, end));
      this.#givenTo = end;
    }
    return html;
  }

  /** A sentence of a paragraph; emphasis that runs on over its end is closed and opened again. */
  #inline(text: string): string {
    const [, space = "", words = ""] = /^(\s*)([\s\S]*)$/.exec(this.#givenTo === 0 ? text.trimStart() : text) ?? [];
    const source = space + this.#carry + words;
    this.#carry = unclosed(this.#carry + words);
    return markdown.renderInline(
      source +
        [...this.#carry.matchAll(/([*_~])\1*/g)]
          .map(([run]) => run)
          .reverse()
          .join(""),
      this.#env,
    );
  }

  #growBlock({ type }: Block, lines: string): string {
    const html = renderMarkdown(lines, this.#env);
    if (type === "fence" || type === "table" || type === "blockquote") {
      this.#givenTo = lines.length;
      return withoutClosingTags(html);
    }
    if (!type.endsWith("_list")) return this.#given;
    // The last item may go on, and what follows it decides whether the list is loose: it is held back.
    const before = html.slice(0, Math.max(html.lastIndexOf("<li"), 0));
    if (!before.includes("<li")) return this.#given;
    const items = [...lines.matchAll(/^[ \t]*(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)/gm)];
    this.#givenTo = items.at(-1)?.index ?? this.#givenTo;
    return before;
  }
}

function parseBlocks(source: string): Block[] {
  const tokens: BlockToken[] = [];
  markdown.block.parse(source, markdown, {}, tokens);
  const lineStarts = [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)];
  return tokens
    .filter((token) => token.level === 0 && token.nesting >= 0 && token.map)
    .map((token) => ({
      type: token.type.replace(/_open$/, ""),
      markup: token.markup,
      start: lineStarts[token.map?.[0] ?? 0] ?? 0,
    }));
}

/** Whether a last block can't go on, judged by its whole lines. */
function isClosed({ type, markup }: Block, source: string): boolean {
  const lines = source.trimEnd().split("\n");
  const last = lines.at(-1)?.trim() ?? "";
  if (type === "heading" || type === "hr") return true;
  if (type === "fence")
    return lines.length > 1 && last.startsWith(markup) && last === last.charAt(0).repeat(last.length);
  if (type.startsWith("math")) return /(?:\$\$|\\\])$/.test(last) && (lines.length > 1 || last.length > 2);
  const goesOnAfterBlank = type.endsWith("_list") || type === "code_block";
  return !goesOnAfterBlank && /\n[ \t]*\n$/.test(source);
}

const trailingTags = /(?:\s*<\/(?:p|li|ul|ol|table|thead|tbody|div|blockquote|code|pre|figure|span|h[1-6])>)+\s*$/;

function withoutClosingTags(html: string): string {
  const open = html.replace(trailingTags, "");
  // Inside code the line break before the closing tags is text.
  return /<\/code>/.test(html.slice(open.length)) && /\n$/.test(html.slice(0, html.indexOf("</", open.length)))
    ? `${open}\n`
    : open;
}

/** The tags that close what is open at the end of our own HTML. */
function closingTags(html: string): string {
  const open: string[] = [];
  for (const [, slash, name = ""] of html.matchAll(/<(\/?)([a-z0-9]+)[^>]*>/g)) {
    if (slash) open.splice(open.lastIndexOf(name), 1);
    else if (name !== "br" && name !== "hr") open.push(name);
  }
  return open
    .reverse()
    .map((name) => `</${name}>`)
    .join("");
}
