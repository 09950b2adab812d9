import { apiContext } from "../../web/context.ts";
import { relayContent } from "../../web/file-response.server.ts";
import type { Route } from "./+types/shared-file";

/** A file of a shared chat, if the files are shared with the chat. */
export const loader = ({ context, params: { token, id }, request, url }: Route.LoaderArgs) =>
  relayContent(request, url, (query, options) =>
    context.get(apiContext).api.share[":token"].file[":id"].$get({ param: { token, id }, query }, options),
  );
