import type { ReactNode } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { StaticRouter } from "react-router";
import { v7 as newId } from "uuid";
import { together, withPauses } from "../../../http/pull-stream.server.ts";
import { isTextBrowser } from "../../../http/text-browsers.server.ts";
import { escapeHtml } from "../../../markdown/render.server.ts";
import { MarkdownStream } from "../../../markdown/stream.server.ts";
import type { Log } from "../../../process/log.server.ts";
import type { Chunk, Source } from "../../../replies/chunk.ts";
import { FormToken } from "../../../ui/forms/post-form.tsx";
import { apiContext, type Context, liveContext, logContext, sessionContext } from "../../../web/context.ts";
import { followReply } from "../stream/follow-reply.server.ts";
import { ReplyEnd } from "./reply-end.tsx";
import { reasoningPath, thinking, thoughtWords } from "./thought-words.ts";
import { citedIn, type ShownTurn, showSource } from "./turns.server.ts";

type End = Extract<Chunk, { type: "end" }>;
type RenderEnd = (end: End, sources: Source[], written: boolean) => ReactNode;

/**
 * Streams a running reply into the document, where the page puts the returned marker. If the reader disconnects, only
 * the reading stops; the model goes on writing.
 */
export function carryLive(context: Context, chatId: string, turn: ShownTurn, request: Request): string {
  const marker = newId();
  const { formToken } = context.get(sessionContext);
  const chunks = followReply(context.get(apiContext), turn.id, request.signal);
  const renderEnd: RenderEnd = (end, sources, written) => (
    <FormToken value={formToken}>
      <ReplyEnd
        chatId={chatId}
        turn={{
          ...turn,
          status: end.status,
          error: end.error ?? null,
          sources: sources.map((source) => showSource(chatId, turn.id, source)),
          written,
        }}
      />
    </FormToken>
  );
  const whole = isTextBrowser(request) ? reasoningPath(chatId, turn.id) : undefined;
  const pieces = replyPieces(turn.id, chunks, { renderEnd, whole }, context.get(logContext));
  context.set(liveContext, { marker, pieces, leave: () => chunks.return(undefined) });
  return marker;
}

type Shown = { renderEnd: RenderEnd; whole: string | undefined };

/** A reply as HTML that can only grow, then what stands under it once it has ended; each time all that is new. */
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
    }
  } catch (error) {
    // The page has begun: all that is left is to say so in it.
    log.error({ err: error as Error, messageId }, "el seguimiento de una respuesta falló");
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
  readonly #messageId: string;
  readonly #shown: Shown;
  #sources: Source[] = [];
  #written = "";
  /** The text of the part that is open, if it is one of text, and the tags that close the part. */
  #text: MarkdownStream | undefined;
  #closing = "";

  constructor(messageId: string, shown: Shown) {
    this.#messageId = messageId;
    this.#shown = shown;
  }

  /** The HTML that a chunk adds. */
  async *add(chunk: Chunk): AsyncGenerator<string> {
    const { renderEnd, whole } = this.#shown;
    if (chunk.type === "sources") this.#sources = chunk.sources;
    else if (chunk.type === "part") yield this.close() + this.#open(chunk.kind);
    else if (chunk.type === "text") {
      this.#written += chunk.text;
      for await (const { append } of this.#text?.feed(chunk.text) ?? []) yield append;
    } else if (chunk.type === "reasoning" && !whole) yield escapeHtml(chunk.text);
    else if (chunk.type === "part-end") {
      this.#closing = "";
      yield thoughtEnd(chunk.ms, whole);
    } else if (chunk.type === "end") {
      this.ended = true;
      const end = renderEnd(chunk, citedIn(this.#written, this.#sources), this.#written !== "");
      yield `${this.close()}<div class="ended" data-status="${chunk.status}">${renderPart(end)}</div>`;
    }
  }

  /** The end of the part that is open. */
  close(): string {
    const rest = this.#text ? this.#text.end().append + this.#closing : this.#closing;
    this.#text = undefined;
    this.#closing = "";
    return rest;
  }

  #open(kind: "text" | "reasoning"): string {
    const { whole } = this.#shown;
    if (kind === "reasoning") {
      this.#closing = thoughtEnd(null, whole);
      return thoughtStart(whole);
    }
    const env = { sourcesId: this.#messageId, sources: this.#sources.length };
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

function renderPart(part: ReactNode): string {
  return renderToStaticMarkup(<StaticRouter location="/">{part}</StaticRouter>);
}
