import type { ReactNode } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { StaticRouter } from "react-router";
import { v7 as newId } from "uuid";
import { withPauses } from "../../../http/pull-stream.server.ts";
import { MarkdownStream } from "../../../markdown/stream.server.ts";
import type { Log } from "../../../process/log.server.ts";
import type { Chunk, Source } from "../../../replies/chunk.ts";
import { FormToken } from "../../../ui/forms/post-form.tsx";
import { apiContext, type Context, liveContext, logContext, sessionContext } from "../../../web/context.ts";
import { followReply } from "../stream/follow-reply.server.ts";
import { ReplyEnd } from "./reply-end.tsx";
import { citedIn, type ShownTurn, showSource } from "./turns.server.ts";

type End = Extract<Chunk, { type: "end" }>;
type RenderEnd = (end: End, sources: Source[], written: boolean) => ReactNode;

/**
 * Streams a running reply into the document, where the page puts the returned marker. If the reader disconnects, only
 * the reading stops; the model goes on writing.
 */
export function carryLive(context: Context, chatId: string, turn: ShownTurn, signal: AbortSignal): string {
  const marker = newId();
  const { formToken } = context.get(sessionContext);
  const chunks = followReply(context.get(apiContext), turn.id, signal);
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
  const pieces = replyPieces(turn.id, chunks, renderEnd, context.get(logContext));
  context.set(liveContext, { marker, pieces, leave: () => chunks.return(undefined) });
  return marker;
}

/** A reply as HTML that can only grow, then what stands under it once it has ended. */
async function* replyPieces(
  messageId: string,
  chunks: AsyncGenerator<Chunk>,
  renderEnd: RenderEnd,
  log: Log,
): AsyncGenerator<string> {
  yield `<div class="prose" dir="auto">`;
  let sources: Source[] = [];
  let markdown = new MarkdownStream({ sourcesId: messageId, sources: 0 });
  let written = "";
  let end = "";
  try {
    for await (const chunk of withPauses(chunks)) {
      if (chunk === undefined) yield "<!-- -->";
      else if (chunk.type === "sources") {
        sources = chunk.sources;
        if (!written) markdown = new MarkdownStream({ sourcesId: messageId, sources: sources.length });
      } else if (chunk.type === "text") {
        written += chunk.text;
        for await (const { append } of markdown.feed(chunk.text)) if (append) yield append;
      } else if (chunk.type === "end") {
        end = `<div class="ended" data-status="${chunk.status}">${renderPart(renderEnd(chunk, citedIn(written, sources), written !== ""))}</div>`;
        break;
      }
    }
  } catch (error) {
    // The page has begun: all that is left is to say so in it.
    log.error({ err: error as Error, messageId }, "el seguimiento de una respuesta falló");
    end = "<p>La página ha dejado de recibir la respuesta. Recárgala para seguir leyendo.</p>";
  }
  yield `${markdown.end().append}</div>${end}`;
}

function renderPart(part: ReactNode): string {
  return renderToStaticMarkup(<StaticRouter location="/">{part}</StaticRouter>);
}
