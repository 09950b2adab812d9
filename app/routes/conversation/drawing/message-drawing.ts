import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import type { Route } from "./+types/message-drawing";
import { awaitedDrawing } from "./awaited-drawing.server.ts";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];

/** A drawing of a message, as a picture. */
export async function loader({ context, params: { messageId, key }, request }: Route.LoaderArgs) {
  const one = context.get(apiContext).api.message[":id"];
  const { user } = await requireUser(context);
  return awaitedDrawing(request, key, user.id, async () => {
    const { parts, content, status } = await read(one.$get({ param: { id: messageId } }));
    const texts = parts.flatMap((part) => (part.kind === "text" ? part.text : []));
    return { texts: texts.length > 0 ? texts : [content], isGrowing: status === "streaming" };
  });
}
