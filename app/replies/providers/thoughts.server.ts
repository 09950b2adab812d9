const opening = /^\s*<think(?:ing)?>/;
const closing = /<\/think(?:ing)?>\s*/;
// A beginning that may still become an opening tag.
const begun = /^\s*(?:<(?:t(?:h(?:i(?:n(?:k(?:i(?:n(?:g)?)?)?)?)?)?)?)?)?$/;
const longestTag = "</thinking>".length;

/** Removes from a streamed text the thoughts that some models write before it between `<think>` and `</think>`. */
export class Thoughts {
  #state: "before" | "inside" | "after" = "before";
  #held = "";

  /** Returns the new text that is not a thought. */
  without(piece: string): string {
    if (this.#state === "after") return piece;
    this.#held += piece;
    if (this.#state === "before") {
      const tag = opening.exec(this.#held);
      if (!tag) return begun.test(this.#held) ? "" : this.#end(this.#held);
      this.#state = "inside";
      this.#held = this.#held.slice(tag[0].length);
    }
    const tag = closing.exec(this.#held);
    if (!tag) {
      // The last characters may be the beginning of the closing tag.
      this.#held = this.#held.slice(-longestTag);
      return "";
    }
    // Blank lines after the thoughts are dropped; they may come with the next piece.
    const text = this.#held.slice(tag.index + tag[0].length);
    return text ? this.#end(text) : "";
  }

  /** The rest at the end of the stream; nothing if a thought never ended. */
  rest(): string {
    return this.#end(this.#state === "before" ? this.#held : "");
  }

  #end(text: string): string {
    this.#state = "after";
    this.#held = "";
    return text;
  }
}
