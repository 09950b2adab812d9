import { apiContext } from "../../web/context.ts";
import { requireUser } from "../../web/current-user.server.ts";
import { relayBytes } from "../../web/file-response.server.ts";
import type { Route } from "./+types/export-file";

/** The prepared export of a person's data, or the rest of it for a download that broke off. */
export async function loader({ context, params: { exportId }, request }: Route.LoaderArgs) {
  const { user } = await requireUser(context);
  const prepared = context.get(apiContext).api.user[":id"].export[":exportId"];
  return relayBytes(request, (options) => prepared.$get({ param: { id: user.id, exportId } }, options));
}
