import { MarkdownStream, type Step } from "../../../markdown/stream.server.ts";
import { drawingsOf } from "../turn/turns.server.ts";

/** Blocks that are complete, the open block, and plain text after it. */
type GrowingBlock = { closed: string; open: string; rest: string };

/** A browser's step to show more of a text: add plain text at its end, or show a block anew. */
type Change = { name: "text"; length: number; data: string } | { name: "block"; length: number; data: GrowingBlock };

/** A part of a reply's text as a browser with a script shows it while it grows. */
export class GrowingText {
  readonly #markdown: MarkdownStream;
  #open = "";
  /** The plain text that the browser shows after the HTML of the open block. */
  #shown = "";

  constructor(messageId: string, sources: number) {
    this.#markdown = new MarkdownStream({ sourcesId: messageId, sources, drawingsAt: drawingsOf(messageId) });
  }

  /** Takes text that the browser shows already. */
  async know(text: string): Promise<void> {
    for await (const { open } of this.#markdown.feed(text)) this.#keep(open);
  }

  /** The changes that new text makes. `length`: how much of the text a change covers, including text that was held back before it. */
  async *add(text: string): AsyncGenerator<Change> {
    let length = 0;
    for await (const step of this.#markdown.feed(text)) {
      const [open, before] = [this.#open, this.#shown];
      this.#keep(step.open);
      length += step.length;
      const shown = this.#shown;
      if (step.closed.length > 0 || step.open.html !== open || !shown.startsWith(before)) {
        const data = { closed: step.closed.join(""), open: step.open.html, rest: shown };
        yield { name: "block", length, data };
      } else if (shown !== before) yield { name: "text", length, data: shown.slice(before.length) };
      else continue;
      length = 0;
    }
  }

  /** The reply goes on in another part: shows the text that was held back. */
  end(): GrowingBlock {
    return { closed: this.#markdown.end().closed.join(""), open: "", rest: "" };
  }

  #keep({ html, rest, isCode }: Step["open"]): void {
    this.#open = html;
    this.#shown = isCode ? codeOf(rest) : plainOf(rest);
  }
}

// A beginning that opens no block, and then letters and the marks that mean nothing to Markdown inside of a line.
const plain = /^[\p{L}¿¡"'«“(][\p{L}\p{M}\p{N} ,;:¿?¡!"'«»“”()…—%€/.+=#>-]*$/u;

/** Unfinished source if it can be shown as plain text; nothing if more text could still turn it into markup or a link. */
function plainOf(rest: string): string {
  return plain.test(rest) && !/\/\/|www\./.test(rest) ? rest : "";
}

/** A line of code that is being written; nothing if it may become the end of the code. */
const codeOf = (rest: string): string => (/^(?:`*|~*)$/.test(rest.trim()) ? "" : rest);
