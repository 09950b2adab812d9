import { read, whenStatus } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { awaitedDrawing } from "../drawing/awaited-drawing.server.ts";
import type { Route } from "./+types/guest-drawing";
import { asGuest, checkCode } from "./guest-session.server.ts";

/** A drawing of a message in a room, as a picture for its guest. */
export async function loader({ context, params: { code, messageId, key }, request }: Route.LoaderArgs) {
  checkCode(code);
  const header = await asGuest(code, request);
  const one = context.get(apiContext).api.guest.message[":messageId"];
  return awaitedDrawing(request, key, code, async () => {
    const message = await read(one.$get({ param: { messageId }, header })).catch(whenStatus(401, undefined));
    return message && { texts: [message.content], isGrowing: message.status === "streaming" };
  });
}
