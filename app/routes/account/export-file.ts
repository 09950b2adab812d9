import { apiContext } from "../../web/context.ts";
import { requireUser } from "../../web/current-user.server.ts";
import { relayBytes } from "../../web/file-response.server.ts";
import type { Route } from "./+types/export-file";

/** What was prepared of all that the person has, or the part of it that a download lacks that broke off. */
export async function loader({ context, params: { exportId }, request }: Route.LoaderArgs) {
  const { user } = await requireUser(context);
  const prepared = context.get(apiContext).api.user[":id"].export[":exportId"];
  return relayBytes(request, (options) => prepared.$get({ param: { id: user.id, exportId } }, options));
}
