import { headerOf } from "../../../http/header.server.ts";
import { pullStream } from "../../../http/pull-stream.server.ts";
import { apiContext } from "../../../web/context.ts";
import type { Route } from "./+types/events";
import { openReply } from "./follow-reply.server.ts";
import { knownOf, replyEvents } from "./reply-events.server.tsx";

/**
 * A reply as server-sent events: `text` to add to the open block, if later text can't change how it looks; `block` when HTML has
 * changed: the blocks that have closed, and the open one so far; `thinking`, `thought` and `thought-end` for the model's thoughts;
 * `call` for the present state of a tool call, or an image, which replaces its earlier state; `end`; `title`. The id is the place in
 * the reply, so that a browser resumes exactly.
 */
export async function loader({ context, params, request }: Route.LoaderArgs) {
  const known = knownOf(headerOf(request, "Last-Event-ID"));
  // A reply that can't be followed is answered as an error, not as a stream.
  const chunks = await openReply(context.get(apiContext), params.messageId, request.signal);
  const events = replyEvents(params.messageId, chunks, known);
  const body = pullStream(events, () => chunks.return(undefined));
  return new Response(body, {
    headers: {
      "Content-Type": "text/event-stream",
      "Cache-Control": "no-store, no-transform",
      "X-Accel-Buffering": "no",
    },
  });
}
