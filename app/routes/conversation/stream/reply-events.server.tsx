import { together, withPauses } from "../../../http/pull-stream.server.ts";
import type { Chunk } from "../../../replies/chunk.ts";
import type { Position } from "../../../replies/reading-place.server.ts";
import { MadeImage } from "../../../ui/made-image.tsx";
import { Call } from "../calls/call.tsx";
import { showCallPart } from "../calls/show-call.ts";
import { thinking, thoughtWords } from "../reply/thought-words.ts";
import { TurnLine } from "../reply/turn-line.tsx";
import { GrowingText } from "./growing-text.server.ts";
import { renderPart } from "./render-part.server.tsx";

/** Part that the browser has: up to a place or, in a page of an older build, which knows only text, up to an offset in the text. */
type Known = (Position | { n: undefined; at: number }) & { isWaiting?: true };

/** Part that the browser has, by the id of the last event it got. */
export function knownOf(id: string): Known {
  const [, n, at = "0"] = /^(?:(\d{1,9})\.)?(\d{1,9})$/.exec(id) ?? [];
  return { n: n === undefined ? undefined : Number(n), at: Number(at), ...(id === waiting && { isWaiting: true }) };
}

/** How much of the chunk that begins at this place the browser already has. */
function knownFrom(known: Known, { n, at }: Position): number {
  if (known.n === undefined || known.n === n) return Math.max(0, known.at - at);
  return n < known.n ? Number.POSITIVE_INFINITY : 0;
}

/** The events of a reply beyond what the browser has, as text. */
export async function* replyEvents(
  messageId: string,
  reads: AsyncGenerator<Chunk[]>,
  known: Known,
): AsyncGenerator<string> {
  const events = new Events(messageId, known);
  // A comment is sent at once and in each pause; without it, a proxy would give up on a model that thinks for long.
  yield ":\n\n";
  for await (const chunks of withPauses(reads)) {
    if (chunks) yield* together(eventsOf(events, chunks));
    else yield ":\n\n";
  }
}

async function* eventsOf(events: Events, chunks: Chunk[]): AsyncGenerator<string> {
  for (const chunk of chunks) yield* events.of(chunk);
}

// Event id of the waiting line, which is shown among the calls but has no place among the parts. A browser that comes back with this id has
// nothing of the reply, and shows the line.
const waiting = "t";

/** Makes the events of a reply out of its chunks. */
class Events {
  readonly #messageId: string;
  readonly #known: Known;
  #sources = 0;
  /** The part of text that is open. */
  #text: GrowingText | undefined;
  #place: Position = { n: 0, at: 0 };
  #isThinking = false;
  #isWaiting = false;
  /** Whether a part of the reply has been read. */
  #hasBegun = false;
  /** The last state sent of each call, by the call's place. */
  readonly #calls = new Map<number, Extract<Chunk, { type: "tool" }>>();

  constructor(messageId: string, known: Known) {
    this.#messageId = messageId;
    this.#known = known;
    this.#isWaiting = known.isWaiting === true;
  }

  async *of(chunk: Chunk): AsyncGenerator<string> {
    if (chunk.type === "turn" && chunk.place > 0) {
      this.#isWaiting = true;
      yield this.#waitingLine(renderPart(<TurnLine place={chunk.place} />));
    } else if (chunk.type === "turn") yield this.#turnCome();
    else if (chunk.type === "sources") this.#sources = chunk.sources.length;
    else if (chunk.type === "part") yield this.#begin(chunk);
    else if (chunk.type === "text") yield* this.#write(chunk);
    else if (chunk.type === "reasoning") {
      this.#place = { n: chunk.n, at: chunk.at + chunk.text.length };
      const fresh = chunk.text.slice(knownFrom(this.#known, chunk));
      if (fresh) yield event("thought", this.#place, fresh);
    } else if (chunk.type === "tool") {
      this.#calls.set(chunk.n, chunk);
      yield this.#call(chunk.n, null);
    } else if (chunk.type === "image") {
      const html = renderPart(<MadeImage image={chunk} />);
      yield event("call", this.#place, { n: chunk.n, html });
    } else if (chunk.type === "part-end" && this.#calls.has(chunk.n)) yield this.#call(chunk.n, chunk.ms);
    else if (chunk.type === "part-end" && this.#isThinking)
      yield event("thought-end", this.#place, thoughtWords(chunk.ms));
    else if (chunk.type === "end") yield event("end", this.#place, chunk.status);
    else if (chunk.type === "title") yield event("title", this.#place, chunk.title);
  }

  #turnCome(): string {
    const gone = this.#isWaiting ? this.#waitingLine("") : "";
    this.#isWaiting = false;
    return gone;
  }

  #waitingLine(html: string): string {
    const { n, at } = this.#hasBegun || this.#known.n === undefined ? this.#place : this.#known;
    const id = this.#hasBegun || this.#known.n !== undefined ? `${n}.${at}` : waiting;
    return `id: ${id}\nevent: call\ndata: ${JSON.stringify({ n: "turn", html })}\n\n`;
  }

  #begin({ n, kind }: Extract<Chunk, { type: "part" }>): string {
    // The reply's turn has come: the line about waiting goes.
    const gone = this.#turnCome();
    this.#hasBegun = true;
    const isNew = this.#known.n === undefined || n > this.#known.n;
    // Shows the rest of the text before this part, which was held back.
    const rest = this.#text && isNew ? event("block", this.#place, this.#text.end()) : "";
    this.#place = { n, at: 0 };
    this.#text = kind === "text" ? new GrowingText(this.#messageId, this.#sources) : undefined;
    this.#isThinking = kind === "reasoning";
    return gone + rest + (kind === "reasoning" && isNew ? event("thinking", this.#place, thinking) : "");
  }

  /** A call as it is now, in place of what the browser shows of it. */
  #call(n: number, ms: number | null): string {
    const call = this.#calls.get(n);
    if (!call) return "";
    const place = { replyId: this.#messageId, folds: true };
    const shown = showCallPart({ ...call, ms, whole: true }, place);
    const html = renderPart(<Call call={{ ...shown, isBeside: shown.artifact !== undefined, decision: undefined }} />);
    return event("call", this.#place, { n, html });
  }

  async *#write({ at, text }: Extract<Chunk, { type: "text" }>): AsyncGenerator<string> {
    const { n } = this.#place;
    const has = text.slice(0, knownFrom(this.#known, { n, at }));
    await this.#text?.know(has);
    this.#place = { n, at: at + has.length };
    for await (const { name, length, data } of this.#text?.add(text.slice(has.length)) ?? []) {
      this.#place = { n, at: this.#place.at + length };
      yield event(name, this.#place, data);
    }
  }
}

function event(name: string, { n, at }: Position, data: unknown): string {
  return `id: ${n}.${at}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
