import type { Chunk } from "./chunk.ts";
import { endOfText, type ReplyState, type ToolPart, timeOf } from "./parts.server.ts";
import { showCall } from "./tools/shown-call.server.ts";

/** A place in a reply: a part, and an offset in it; in a part of text, the offset in the reply's whole text. */
export type Position = { n: number; at: number };

/** How far a reader of a growing reply has come. One per reader. */
export class Reading {
  #n = 0;
  #at = 0;
  /** Whether the reader knows that the part at hand has begun. */
  #announced = false;
  /** The reader knows the text before this offset, and the other parts before it. */
  #textFrom = 0;
  /** Calls that may still change, by place, with the version that the reader has; empty if the reader may lack the last change. */
  readonly #calls = new Map<number, string>();

  /** A reader that has everything up to this place. Undefined if the reply never came that far. */
  static from(reply: ReplyState, { n, at }: Position): Reading | undefined {
    const part = reply.parts[n];
    if (!part && (n !== reply.parts.length || at !== 0)) return undefined;
    const [start, end] =
      part?.kind === "text" ? [part.at, endOfText(reply, n)] : [0, part?.kind === "reasoning" ? part.text.length : 0];
    if (at < start || at > end) return undefined;
    const reading = Reading.#of(n, at, at > start);
    for (const [index, { kind }] of reply.parts.slice(0, n).entries())
      if (kind === "tool") reading.#calls.set(index, "");
    return reading;
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

  /** Chunks of the reply beyond this place, in order; the place moves on. `ended`: nothing will be added to the reply. */
  next(reply: ReplyState, ended: boolean): Chunk[] {
    const chunks = this.#changedCalls(reply);
    for (let part = reply.parts[this.#n]; part; part = reply.parts[this.#n]) {
      const n = this.#n;
      if (part.kind !== "text" && part.at < this.#textFrom) {
        this.#n += 1;
        continue;
      }
      if (!this.#announced) {
        chunks.push({ type: "part", n, kind: part.kind });
        this.#announced = true;
        this.#at = part.kind === "text" ? Math.max(part.at, this.#textFrom) : 0;
      }
      if (part.kind === "tool") this.#calls.set(n, "");
      if (part.kind === "tool" || part.kind === "image") {
        if (part.kind === "tool") chunks.push(...this.#changedCalls(reply));
        else
          chunks.push({ type: "image", n, alt: part.text, ...part.image }, { type: "part-end", n, ms: timeOf(part) });
        this.#n += 1;
        this.#announced = false;
        continue;
      }
      const at = this.#at;
      const text = part.kind === "text" ? reply.text.slice(at, endOfText(reply, n)) : part.text.slice(at);
      if (text) chunks.push(part.kind === "text" ? { type: "text", at, text } : { type: "reasoning", n, at, text });
      this.#at += text.length;
      const hasEnded = part.kind === "reasoning" && part.finishedAt !== null;
      if (!ended && !hasEnded && n + 1 === reply.parts.length) break;
      if (part.kind === "reasoning") chunks.push({ type: "part-end", n, ms: timeOf(part) });
      this.#n += 1;
      this.#announced = false;
    }
    return chunks;
  }

  /** The calls that have changed since the reader was told of them. A call that is over does not change again. */
  #changedCalls({ parts }: ReplyState): Chunk[] {
    return [...this.#calls].flatMap(([n, known]): Chunk[] => {
      const part = parts[n];
      if (part?.kind !== "tool" || versionOf(part) === known) return [];
      const isOver = part.finishedAt !== null;
      if (isOver) this.#calls.delete(n);
      else this.#calls.set(n, versionOf(part));
      const end: Chunk[] = isOver ? [{ type: "part-end", n, ms: timeOf(part) }] : [];
      return [{ type: "tool", n, ...showCall(part) }, ...end];
    });
  }
}

/** Tells two states of one call apart. */
export const versionOf = ({ status, text, finishedAt, call }: ToolPart): string =>
  `${status} ${text.length} ${finishedAt} ${call.input.length} ${call.question?.message ?? ""} ${call.answers?.length ?? 0}`;
