import type { ReactNode } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { StaticRouter } from "react-router";
import type { LiveReply } from "./context.ts";
import type { Log } from "./log.server.ts";
import { MarkdownStream } from "./markdown/stream.server.ts";
import { pullStream, withPauses } from "./pull-stream.server.ts";

/**
 * The page up to the reply, then the reply as it is written, then the rest; no script takes part (product.md §7).
 * A reader that leaves stops only the reading.
 */
export function writeLive(html: string, live: LiveReply, log: Log): ReadableStream<Uint8Array> {
  const at = html.indexOf(live.marker);
  const pieces = livePieces(html.slice(0, at), html.slice(at + live.marker.length), live, log);
  return pullStream(pieces, () => live.chunks.return(undefined));
}

async function* livePieces(before: string, after: string, live: LiveReply, log: Log): AsyncGenerator<string> {
  yield `${before}<div class="prose" dir="auto">`;
  let { sources } = live;
  let markdown = new MarkdownStream({ sourcesId: live.messageId, sources: sources.length });
  let written = false;
  let end = "";
  try {
    for await (const chunk of withPauses(live.chunks)) {
      if (chunk === undefined) yield "<!-- -->";
      else if (chunk.type === "sources") {
        sources = chunk.sources;
        if (!written) markdown = new MarkdownStream({ sourcesId: live.messageId, sources: sources.length });
      } else if (chunk.type === "text") {
        written = true;
        for await (const { append } of markdown.feed(chunk.text)) if (append) yield append;
      } else if (chunk.type === "end") {
        end = `<div class="ended" data-status="${chunk.status}">${renderPart(live.renderEnd(chunk, sources, written))}</div>`;
        break;
      }
    }
  } catch (error) {
    // The page has begun: all that is left is to say so in it.
    log.error({ err: error as Error, messageId: live.messageId }, "el seguimiento de una respuesta falló");
    end = "<p>La página ha dejado de recibir la respuesta. Recárgala para seguir leyendo.</p>";
  }
  yield `${markdown.end().append}</div>${end}${after}`;
}

function renderPart(part: ReactNode): string {
  return renderToStaticMarkup(<StaticRouter location="/">{part}</StaticRouter>);
}
