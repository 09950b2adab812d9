import { apiContext } from "../../context.ts";
import type { Chunk } from "../../intelligence/chunk.ts";
import { MarkdownStream } from "../../markdown/stream.server.ts";
import { pullStream, withPauses } from "../../pull-stream.server.ts";
import type { Route } from "./+types/stream";
import { openReply } from "./follow-reply.server.ts";

/**
 * A reply as server-sent events (product.md §7): `text` to add to the open block; `block` when HTML has changed: blocks that
 * closed, and the open one so far; `end`; `title`. The id is the offset in the reply, so that a browser resumes exactly.
 */
export async function loader({ context, params, request }: Route.LoaderArgs) {
  const after = Number(request.headers.get("Last-Event-ID")) || 0;
  // What can't be followed is answered as an error, not as a stream.
  const chunks = await openReply(context.get(apiContext), params.messageId, request.signal);
  const events = toEvents(params.messageId, chunks, after);
  const body = pullStream(events, () => chunks.return(undefined));
  return new Response(body, {
    headers: {
      "Content-Type": "text/event-stream",
      "Cache-Control": "no-store, no-transform",
      "X-Accel-Buffering": "no",
    },
  });
}

async function* toEvents(messageId: string, chunks: AsyncGenerator<Chunk>, after: number): AsyncGenerator<string> {
  let markdown = new MarkdownStream({ sourcesId: messageId });
  let open = "";
  let at = 0;
  // A comment at once and in each pause: a proxy would give up on a model that thinks for long.
  yield ":\n\n";
  for await (const value of withPauses(chunks)) {
    if (!value) {
      yield ":\n\n";
      continue;
    }
    if (value.type === "sources" && at === 0)
      markdown = new MarkdownStream({ sourcesId: messageId, sources: value.sources.length });
    if (value.type === "text") {
      // What the browser has already is read again only to know where it stands.
      const known = value.text.slice(0, Math.max(0, after - at));
      at += known.length;
      for await (const step of markdown.feed(known)) open = step.open.html;
      const fresh = value.text.slice(known.length);
      let sent = 0;
      for await (const step of markdown.feed(fresh)) {
        const changed = step.closed.length > 0 || step.open.html !== open;
        open = step.open.html;
        const part = fresh.slice(sent, sent + step.length);
        sent += step.length;
        at += step.length;
        yield changed
          ? event("block", at, { closed: step.closed.join(""), open: step.open.html, rest: step.open.rest })
          : event("text", at, part);
      }
    }
    if (value.type === "end") yield event("end", at, value.status);
    if (value.type === "title") yield event("title", at, value.title);
  }
}

function event(name: string, id: number, data: unknown): string {
  return `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
