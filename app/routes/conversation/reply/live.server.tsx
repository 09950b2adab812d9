import { setTimeout as wait } from "node:timers/promises";
import type { ReactNode } from "react";
import { v7 as newId } from "uuid";
import { together, withPauses } from "../../../http/pull-stream.server.ts";
import { isTextBrowser } from "../../../http/text-browsers.server.ts";
import { escapeHtml } from "../../../markdown/render.server.ts";
import { MarkdownStream } from "../../../markdown/stream.server.ts";
import type { Log } from "../../../process/log.server.ts";
import type { Chunk, Source } from "../../../replies/chunk.ts";
import { FormToken } from "../../../ui/forms/post-form.tsx";
import { Light } from "../../../ui/light/light.ts";
import { MadeImage } from "../../../ui/made-image.tsx";
import {
  apiContext,
  type Context,
  lightContext,
  liveContext,
  logContext,
  sessionContext,
} from "../../../web/context.ts";
import { BesideSheet, CallLine, CallResult, type ShownCallPart } from "../calls/call.tsx";
import { DecisionForm } from "../calls/decision-form.tsx";
import { showCallPart } from "../calls/show-call.ts";
import { followReply } from "../stream/follow-reply.server.ts";
import { renderPart } from "../stream/render-part.server.tsx";
import { citedIn, drawingsOf, type ShownTurn, showSource } from "../turn/turns.server.ts";
import { ReplyEnd } from "./reply-end.tsx";
import { reasoningPath, thinking, thoughtWords } from "./thought-words.ts";
import { TurnLine } from "./turn-line.tsx";

type End = Extract<Chunk, { type: "end" }>;
type CallChunk = Extract<Chunk, { type: "tool" }>;
type Ended = { end: End; sources: Source[]; written: boolean; called: boolean };

/** A running reply as the conversation has it: with its foot once it has ended, and the message that waits for it. */
export function carryTurn(
  context: Context,
  { id: chatId, queued }: { id: string; queued: { problem: string | null } | null },
  turn: ShownTurn,
  request: Request,
): string {
  return carryLive(
    context,
    replyIn(context, { id: chatId }, turn.id, request),
    request,
    ({ end, sources, written, called }) => (
      <>
        <ReplyEnd
          chatId={chatId}
          turn={{
            ...turn,
            status: end.status,
            error: end.error ?? null,
            sources: sources.map((source) => showSource(chatId, turn.id, source, turn.author === undefined)),
            written,
            called,
          }}
        />
        {/* The page shows one growing reply: it has to be loaded again for the next reply. */}
        {queued && !queued.problem && (end.status === "complete" || end.status === "stopped") && (
          <p className="follows">
            Tu mensaje siguiente se envía ahora. <a href={`/conversation/chat/${chatId}`}>Ver su respuesta</a>
          </p>
        )}
      </>
    ),
  );
}

/** A reply of a chat of the person who reads it. */
export function replyIn(
  context: Context,
  { id: chatId }: { id: string },
  replyId: string,
  request: Request,
): LiveReply {
  return {
    id: replyId,
    chunks: followReply(context.get(apiContext), replyId, request.signal),
    thoughts: reasoningPath(chatId, replyId),
    drawingsAt: drawingsOf(replyId),
  };
}

/** A reply that is being written. `thoughts`: address of its thoughts; `drawingsAt`: that of its drawings, before their keys. */
type LiveReply = { id: string; chunks: AsyncGenerator<Chunk[]>; thoughts?: string; drawingsAt: string };

/**
 * Streams a running reply into the document, where the page puts the returned marker; `renderEnd`: the foot of the reply once it has
 * ended. If the reader disconnects, only the reading stops; the model goes on writing.
 */
export function carryLive(
  context: Context,
  { id: replyId, chunks, thoughts, drawingsAt }: LiveReply,
  request: Request,
  renderEnd: (ended: Ended) => ReactNode,
): string {
  const marker = newId();
  const { formToken } = context.get(sessionContext);
  const folds = !isTextBrowser(request);
  const whole = folds ? undefined : thoughts;
  const showCall = (call: CallChunk, ms: number | null) =>
    showCallPart({ ...call, ms, whole: true }, { replyId, folds });
  const pieces = replyPieces(
    replyId,
    chunks,
    { renderEnd, showCall, whole, drawingsAt, formToken, light: context.get(lightContext) },
    context.get(logContext),
  );
  context.set(liveContext, { marker, pieces, leave: () => chunks.return(undefined) });
  return marker;
}

type Shown = {
  renderEnd(ended: Ended): ReactNode;
  showCall(call: CallChunk, ms: number | null): ShownCallPart;
  whole: string | undefined;
  drawingsAt: string;
  formToken: string;
  light: boolean;
};

// In ms between two pieces of a growing page: each costs the server as much as all the words in it.
const pieceEvery = 90;

/** A reply as HTML that can only grow, then its foot once it has ended; each piece is all the HTML that is new. */
async function* replyPieces(
  messageId: string,
  reads: AsyncGenerator<Chunk[]>,
  shown: Shown,
  log: Log,
): AsyncGenerator<string> {
  const page = new GrowingPage(messageId, shown);
  try {
    for await (const chunks of withPauses(reads)) {
      if (chunks) yield* together(addAll(page, chunks));
      else yield "<!-- -->";
      if (page.ended) return;
      // Nothing is read meanwhile: what comes is one piece. The first word waits for nothing.
      if (page.hasWords) await wait(pieceEvery);
    }
  } catch (error) {
    // The page has begun, so the failure can only be told in it.
    log.error({ err: error, messageId }, "el seguimiento de una respuesta falló");
    yield `${page.close()}<p>La página ha dejado de recibir la respuesta. Recárgala para seguir leyendo.</p>`;
    return;
  }
  yield page.close();
}

async function* addAll(page: GrowingPage, chunks: Chunk[]): AsyncGenerator<string> {
  for (const chunk of chunks) yield* page.add(chunk);
}

class GrowingPage {
  ended = false;
  hasWords = false;
  readonly #messageId: string;
  readonly #shown: Shown;
  #sources: Source[] = [];
  #written = "";
  /** The text of the part that is open, if it is one of text, and the tags that close the part. */
  #text: MarkdownStream | undefined;
  #closing = "";
  /** The latest state of each call, by its place. */
  readonly #calls = new Map<number, CallChunk>();
  /** Place of the call whose line stands last. */
  #lastCall = -1;
  /** Calls whose artifact stands beside the conversation. */
  readonly #sheets = new Set<number>();

  constructor(messageId: string, shown: Shown) {
    this.#messageId = messageId;
    this.#shown = shown;
  }

  /** The HTML that a chunk adds. */
  async *add(chunk: Chunk): AsyncGenerator<string> {
    const { renderEnd, whole } = this.#shown;
    if (chunk.type === "turn") yield this.#render(<TurnLine place={chunk.place} />);
    else if (chunk.type === "tool") yield this.#call(chunk);
    else if (chunk.type === "image") yield this.#render(<MadeImage image={chunk} />);
    else if (chunk.type === "sources") this.#sources = chunk.sources;
    else if (chunk.type === "part") yield this.close() + this.#open(chunk.kind);
    else if (chunk.type === "text") {
      this.#written += chunk.text;
      for await (const { append } of this.#text?.feed(chunk.text) ?? []) {
        this.hasWords ||= append !== "";
        yield append;
      }
    } else if (chunk.type === "reasoning" && !whole) yield escapeHtml(chunk.text);
    else if (chunk.type === "part-end" && this.#calls.has(chunk.n)) yield this.#result(chunk.n, chunk.ms);
    else if (chunk.type === "part-end" && this.#closing) {
      this.#closing = "";
      yield thoughtEnd(chunk.ms, whole);
    } else if (chunk.type === "end") {
      this.ended = true;
      const sources = citedIn(this.#written, this.#sources);
      const end = renderEnd({ end: chunk, sources, written: this.#written !== "", called: this.#calls.size > 0 });
      const asked = chunk.status === "waiting" ? [...this.#calls.keys()].map((n) => this.#decision(n)).join("") : "";
      yield `${this.close()}${asked}<div class="ended" data-status="${chunk.status}">${this.#render(end)}</div>`;
    }
  }

  /** The end of the part that is open. */
  close(): string {
    const rest = this.#text ? this.#text.end().append + this.#closing : this.#closing;
    this.#text = undefined;
    this.#closing = "";
    return rest;
  }

  /** The line of a call, at the first news of the call: its result comes after. */
  #call(call: CallChunk): string {
    const isNew = !this.#calls.has(call.n);
    this.#calls.set(call.n, call);
    if (isNew) this.#lastCall = call.n;
    if (!isNew) return "";
    const shown = this.#shown.showCall(call, null);
    return this.#render(<CallLine call={{ ...shown, isRunning: false }} />) + this.#beside(shown);
  }

  /** The artifact that a call writes, beside the conversation: at once while it grows, or when it is there. */
  #beside({ artifact, n }: ShownCallPart): string {
    if (!artifact || this.#sheets.has(n)) return "";
    this.#sheets.add(n);
    return this.#render(<BesideSheet artifact={artifact} />);
  }

  #result(n: number, ms: number | null): string {
    const call = this.#calls.get(n);
    const apart = n !== this.#lastCall;
    if (!call) return "";
    const shown = this.#shown.showCall(call, ms);
    return this.#render(<CallResult call={shown} apart={apart} />) + this.#beside(shown);
  }

  #decision(n: number): string {
    const call = this.#calls.get(n);
    const decision = call && this.#shown.showCall(call, null).decision;
    return decision ? this.#render(<DecisionForm decision={decision} />) : "";
  }

  #render(part: ReactNode): string {
    const { formToken, light } = this.#shown;
    return renderPart(
      <Light value={light}>
        <FormToken value={formToken}>{part}</FormToken>
      </Light>,
    );
  }

  #open(kind: Extract<Chunk, { type: "part" }>["kind"]): string {
    const { whole } = this.#shown;
    if (kind === "tool" || kind === "image") return "";
    if (kind === "reasoning") {
      this.#closing = thoughtEnd(null, whole);
      return thoughtStart(whole);
    }
    const { light, drawingsAt } = this.#shown;
    const env = { sourcesId: this.#messageId, sources: this.#sources.length, drawingsAt, light };
    this.#text = new MarkdownStream(env, { byWord: true });
    this.#closing = "</div>";
    return `<div class="prose" dir="auto">`;
  }
}

/** A thought that grows, folded away; in a text browser (`whole`), which would show it open, a link to it. */
const thoughtStart = (whole: string | undefined) =>
  whole
    ? `<p><a href="${whole}">Ver el razonamiento</a></p>`
    : `<div class="thought"><details class="reasoning"><summary>${thinking}</summary><div class="thinking" dir="auto">`;

/** The summary can't change any more: styles show these words in its place. */
const thoughtEnd = (ms: number | null, whole: string | undefined) =>
  whole ? "" : `</div></details><p class="took">${thoughtWords(ms)}</p></div>`;
