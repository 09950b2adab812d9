import { apiContext } from "../../../web/context.ts";
import { relayContent } from "../../../web/file-response.server.ts";
import type { Route } from "./+types/file-content";

/** The bytes of a file of the person's. */
export const loader = ({ context, params: { id }, request, url }: Route.LoaderArgs) =>
  relayContent(request, url, (query, options) =>
    context.get(apiContext).api.file[":id"].content.$get({ param: { id }, query }, options),
  );
