import type { LiveReply } from "./context.ts";
import type { Log } from "./log.server.ts";
import { MarkdownStream } from "./markdown/stream.server.ts";

const encoder = new TextEncoder();

/**
 * The page up to the reply, then the reply as it is written, then the rest; no script takes part (product.md §7).
 * Nothing is read ahead of the reader, and a reader that leaves stops only the reading.
 */
export function writeLive(html: string, live: LiveReply, log: Log): ReadableStream<Uint8Array> {
  const at = html.indexOf(live.marker);
  const pieces = livePieces(html.slice(0, at), html.slice(at + live.marker.length), live, log);
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
      async cancel() {
        await live.chunks.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}

async function* livePieces(before: string, after: string, { chunks, messageId, sources }: LiveReply, log: Log): AsyncGenerator<string> {
  yield before;
  let count = sources;
  let markdown: MarkdownStream | undefined;
  try {
    for await (const chunk of chunks) {
      if (chunk.type === "sources") count = chunk.sources.length;
      if (chunk.type === "text") {
        markdown ??= new MarkdownStream({ sourcesId: messageId, sources: count });
        const { append } = markdown.push(chunk.text);
        if (append) yield append;
      }
      if (chunk.type === "end") break;
    }
  } catch (error) {
    // The page has begun: all that is left is to say so in it.
    log.error({ err: error as Error, messageId }, "el seguimiento de una respuesta falló");
    yield `${markdown?.end().append ?? ""}<p>La página ha dejado de recibir la respuesta. Recárgala para seguir leyendo.</p>`;
    yield after;
    return;
  }
  yield (markdown?.end().append ?? "") + after;
}
