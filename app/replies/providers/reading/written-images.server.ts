/** A stretch of text, or an image that a model has written into it with its data, in base64. */
export type Written = { text: string } | { mediaType: string; data: string };

const dataBegins = /\]\(<?data:(image\/[\w.+-]{1,40});base64,/;
const mayBegin = /^!(?:\[[^\]\n]*(?:\](?:\((?:<?[\w:/.+;-]*,?)?)?)?)?$/;
// In characters: more than any description and type have.
const longestBeginning = 300;
const notData = /[^A-Za-z0-9+/=\s]/;

/** Takes the images out of a text that are written as Markdown with their data. */
export class WrittenImages {
  #held = "";
  #image: { mediaType: string; pieces: string[] } | undefined;

  /** Splits the next piece of text; what may be the beginning of an image is kept for the next one. */
  split(piece: string): Written[] {
    // Most pieces have no image.
    if (!this.#image && this.#held === "" && !piece.includes("!")) return [{ text: piece }];
    const parts: Written[] = [];
    for (let text = this.#held + piece; text; ) {
      this.#held = "";
      if (this.#image) {
        const end = text.search(notData);
        this.#image.pieces.push(end < 0 ? text : text.slice(0, end));
        if (end < 0) break;
        parts.push({ mediaType: this.#image.mediaType, data: this.#image.pieces.join("").replace(/\s+/g, "") });
        this.#image = undefined;
        text = text.slice(end).replace(/^>?\)?/, "");
        continue;
      }
      const begun = dataBegins.exec(text);
      const from = begun ? text.lastIndexOf("![", begun.index) : -1;
      if (begun?.[1] && from >= 0) {
        parts.push({ text: text.slice(0, from) });
        this.#image = { mediaType: begun[1], pieces: [] };
        text = text.slice(begun.index + begun[0].length);
        continue;
      }
      const at = text.length - beginningIn(text);
      this.#held = text.slice(at);
      parts.push({ text: text.slice(0, at) });
      break;
    }
    return parts;
  }

  /** The kept rest, at the end of the stream; an image without its closing bracket is one, too. */
  rest(): Written[] {
    if (this.#image) return this.split(")");
    const text = this.#held;
    this.#held = "";
    return text ? [{ text }] : [];
  }
}

/** Length of the end of a text that may be the beginning of an image. */
function beginningIn(text: string): number {
  const at = text.lastIndexOf("![");
  const end = at < 0 ? "" : text.slice(at);
  if (end.length <= longestBeginning && mayBegin.test(end)) return end.length;
  return text.endsWith("!") ? 1 : 0;
}
