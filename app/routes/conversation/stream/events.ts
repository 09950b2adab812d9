import { pullStream, withPauses } from "../../../http/pull-stream.server.ts";
import { MarkdownStream } from "../../../markdown/stream.server.ts";
import type { Chunk } from "../../../replies/chunk.ts";
import { apiContext } from "../../../web/context.ts";
import type { Route } from "./+types/events";
import { openReply } from "./follow-reply.server.ts";

/**
 * A reply as server-sent events: `text` to add to the open block, where nothing that may still come can change how it looks;
 * `block` when HTML has changed: blocks that closed, and the open one so far; `end`; `title`. The id is the offset in the
 * reply, so that a browser resumes exactly.
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
  // The plain text that the browser shows after the HTML of the open block.
  let shown = "";
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
      // The part that the browser already has is fed only to restore the state of the Markdown.
      const known = value.text.slice(0, Math.max(0, after - at));
      at += known.length;
      for await (const step of markdown.feed(known)) {
        open = step.open.html;
        shown = plainOf(step.open.rest);
      }
      for await (const step of markdown.feed(value.text.slice(known.length))) {
        const before = shown;
        const changed = step.closed.length > 0 || step.open.html !== open;
        open = step.open.html;
        shown = plainOf(step.open.rest);
        at += step.length;
        if (changed || !shown.startsWith(before)) {
          yield event("block", at, { closed: step.closed.join(""), open, rest: shown });
        } else if (shown !== before) yield event("text", at, shown.slice(before.length));
      }
    }
    if (value.type === "end") yield event("end", at, value.status);
    if (value.type === "title") yield event("title", at, value.title);
  }
}

// Letters, and the marks that mean nothing to Markdown wherever they stand.
const plain = /^\p{L}[\p{L}\p{M}\p{N} ,;:¿?¡!"'«»“”()…—%€/.]*$/u;

/** Unfinished source if it can be shown as plain text; nothing if more text could still turn it into markup or a link. */
function plainOf(rest: string): string {
  return plain.test(rest) && !/https?:|www\./.test(rest) ? rest : "";
}

function event(name: string, id: number, data: unknown): string {
  return `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
