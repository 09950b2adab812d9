import { setTimeout } from "node:timers/promises";
import { drawingResponse } from "../../../markdown/drawings/drawing-response.server.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import type { Route } from "./+types/message-drawing";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];

// In ms. The page of a reply that is being written may show more of it than is kept.
const lookEvery = 250;
const lookFor = 5_000;

/** A drawing of a message, as a picture. */
export async function loader({ context, params: { messageId, key }, request }: Route.LoaderArgs) {
  const one = context.get(apiContext).api.message[":id"];
  const { user } = await requireUser(context);
  for (let waited = 0; ; waited += lookEvery) {
    const { parts, content, status } = await read(one.$get({ param: { id: messageId } }));
    const texts = parts.flatMap((part) => (part.kind === "text" ? part.text : []));
    const picture = await drawingResponse(texts.length > 0 ? texts : [content], key, { request, owner: user.id });
    if (picture) return picture;
    if (status !== "streaming" || waited >= lookFor || request.signal.aborted)
      throw new Response(null, { status: 404 });
    await setTimeout(lookEvery, undefined, { signal: request.signal }).catch(() => {});
  }
}
