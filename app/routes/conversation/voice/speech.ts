import { apiContext } from "../../../web/context.ts";
import { relayBytes } from "../../../web/file-response.server.ts";
import type { Route } from "./+types/speech";

/** A reply as it is read aloud, or the part of it that a player asks for. */
export const loader = ({ context, params: { messageId }, request }: Route.LoaderArgs) =>
  relayBytes(request, (options) =>
    context.get(apiContext).api.message[":id"].speech.$get({ param: { id: messageId } }, options),
  );
