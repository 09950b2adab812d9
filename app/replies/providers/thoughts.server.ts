/** A stretch of what a model writes; `mistaken`: the text before it was a thought. */
export type Stretch = { type: "text"; text: string } | { type: "reasoning"; text: string } | { type: "mistaken" };

// Blanks are counted up to a bound everywhere: a model that sends nothing else must not cost more with each.
const opening = /^\s{0,1000}<think(?:ing)?>\s*/;
const closing = /(?:(?<!\s)\s{1,20})?<\/think(?:ing)?>\s*/;
// A beginning that may still become an opening tag.
const begun = /^\s{0,1000}(?:<(?:t(?:h(?:i(?:n(?:k(?:i(?:n(?:g)?)?)?)?)?)?)?)?)?$/;
// An end that may still become a closing tag, with the blanks before it.
const ending = /(?:(?<!\s)\s{1,20})?(?:<(?:\/(?:t(?:h(?:i(?:n(?:k(?:i(?:n(?:g)?)?)?)?)?)?)?)?)?)?$/;
// A closing tag on a line of its own ends a thought whose opening tag the model's template has already given.
const untagged = /\n\s{0,20}<\/think(?:ing)?>\s{0,20}\n/;
const untaggedLength = 60;

/** Tells the thoughts that some models write before their text, between `<think>` and `</think>`, from the text. */
export class Thoughts {
  #state: "before" | "inside" | "blank" | "after";
  #held = "";
  /** The end of the text so far, where an untagged thought may end; undefined once the text can't be one. */
  #tail: string | undefined = "";

  /** `untagged`: this model is known to leave out the opening tag. */
  constructor({ untagged = false } = {}) {
    this.#state = untagged ? "inside" : "before";
  }

  /** Splits the next piece of text; what may be the beginning of a tag is kept for the next one. */
  split(piece: string): Stretch[] {
    const text = this.#held + piece;
    this.#held = "";
    if (this.#state === "before") {
      const tag = opening.exec(text);
      if (!tag && begun.test(text)) {
        this.#held = text;
        return [];
      }
      this.#state = tag ? "inside" : "after";
      return this.split(text.slice(tag?.[0].length ?? 0));
    }
    if (this.#state === "inside") return this.#think(text);
    if (this.#state === "blank") {
      // Blank lines after a thought are dropped.
      const begins = text.trimStart();
      if (begins) this.#state = "after";
      this.#tail = undefined;
      return begins ? [{ type: "text", text: begins }] : [];
    }
    return text ? this.#write(text) : [];
  }

  /** What was kept, at the end of the stream. */
  rest(): Stretch[] {
    const text = this.#held;
    this.#held = "";
    if (!text) return [];
    return this.#state === "inside" ? [{ type: "reasoning", text }] : [{ type: "text", text }];
  }

  #think(text: string): Stretch[] {
    const tag = closing.exec(text);
    if (!tag) {
      const end = ending.exec(text)?.index ?? text.length;
      this.#held = text.slice(end);
      return end > 0 ? [{ type: "reasoning", text: text.slice(0, end) }] : [];
    }
    this.#state = "blank";
    const thought = text.slice(0, tag.index);
    const rest = this.split(text.slice(tag.index + tag[0].length));
    return thought ? [{ type: "reasoning", text: thought }, ...rest] : rest;
  }

  #write(text: string): Stretch[] {
    if (this.#tail === undefined) return [{ type: "text", text }];
    const seen = this.#tail + text;
    const end = untagged.exec(seen);
    // Text that shows code or speaks of such tags itself may well have a line like that.
    this.#tail = end || /```|<think/.test(seen) ? undefined : seen.slice(-untaggedLength);
    if (!end) return [{ type: "text", text }];
    const before = text.slice(0, Math.max(0, end.index - (seen.length - text.length)));
    const after = seen.slice(end.index + end[0].length).trimStart();
    if (!after) this.#state = "blank";
    return [
      ...(before ? [{ type: "text" as const, text: before }] : []),
      { type: "mistaken" },
      ...(after ? [{ type: "text" as const, text: after }] : []),
    ];
  }
}
