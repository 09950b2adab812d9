import type { Chunk } from "./chunk.ts";
import { endOfText, type ReplyState, thoughtFor } from "./parts.server.ts";

/** A place in a reply: a part, and an offset in it; in a part of text, the offset in the reply's whole text. */
export type Position = { n: number; at: number };

/** How far a reader of a growing reply has come. One per reader. */
export class Reading {
  #n = 0;
  #at = 0;
  /** Whether the reader knows that the part at hand has begun. */
  #announced = false;
  /** Text before this offset, and what was thought before it, is known to the reader. */
  #textFrom = 0;

  /** A reader that has everything up to this place. Undefined if the reply never came that far. */
  static from(reply: ReplyState, { n, at }: Position): Reading | undefined {
    const part = reply.parts[n];
    if (!part) return n === reply.parts.length && at === 0 ? Reading.#of(n, 0, false) : undefined;
    const [start, end] = part.kind === "text" ? [part.at, endOfText(reply, n)] : [0, part.text.length];
    return at >= start && at <= end ? Reading.#of(n, at, at > start) : undefined;
  }

  /** A reader that knows of text alone and has it up to this offset. */
  static after(offset: number): Reading {
    const reading = new Reading();
    reading.#textFrom = offset;
    return reading;
  }

  static #of(n: number, at: number, announced: boolean): Reading {
    const reading = new Reading();
    reading.#n = n;
    reading.#at = at;
    reading.#announced = announced;
    return reading;
  }

  /** What the reply has beyond this place, in order; the place moves on. `ended`: nothing will be added to the reply. */
  next(reply: ReplyState, ended: boolean): Chunk[] {
    const chunks: Chunk[] = [];
    for (let part = reply.parts[this.#n]; part; part = reply.parts[this.#n]) {
      const n = this.#n;
      if (part.kind === "reasoning" && part.at < this.#textFrom) {
        this.#n += 1;
        continue;
      }
      if (!this.#announced) {
        chunks.push({ type: "part", n, kind: part.kind });
        this.#announced = true;
        this.#at = part.kind === "text" ? Math.max(part.at, this.#textFrom) : 0;
      }
      const at = this.#at;
      const text = part.kind === "text" ? reply.text.slice(at, endOfText(reply, n)) : part.text.slice(at);
      if (text) chunks.push(part.kind === "text" ? { type: "text", at, text } : { type: "reasoning", n, at, text });
      this.#at += text.length;
      const hasEnded = part.kind === "reasoning" && part.finishedAt !== null;
      if (!ended && !hasEnded && n + 1 === reply.parts.length) break;
      if (part.kind === "reasoning") chunks.push({ type: "part-end", n, ms: thoughtFor(part) });
      this.#n += 1;
      this.#announced = false;
    }
    return chunks;
  }
}
