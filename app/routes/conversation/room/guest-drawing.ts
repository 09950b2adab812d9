import { awaitedDrawing } from "../drawing/awaited-drawing.server.ts";
import type { Route } from "./+types/guest-drawing";
import { conversationOf } from "./guest-session.server.ts";

/** A drawing of a message in a room, as a picture for its guest. */
export const loader = ({ context, params: { code, messageId, key }, request }: Route.LoaderArgs) =>
  awaitedDrawing(request, key, code, async () => {
    const conversation = await conversationOf(context, code, request);
    const message = conversation?.items.find(({ id }) => id === messageId);
    return message && { texts: [message.content], isGrowing: message.status === "streaming" };
  });
