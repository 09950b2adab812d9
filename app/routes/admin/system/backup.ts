import { headerOf } from "../../../http/header.server.ts";
import { accepted } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import type { Route } from "./+types/backup";

/** A copy with everybody's files, passed on as the API makes it. */
export async function loader({ context, params: { name } }: Route.LoaderArgs) {
  const answer = context.get(apiContext).api.system.backup[":name"].$get({ param: { name } });
  const response = await accepted(answer);
  const kept = ["Content-Type", "Content-Disposition"].map((name) => [name, headerOf(response, name)]);
  return new Response(response.body, { headers: Object.fromEntries(kept) });
}
