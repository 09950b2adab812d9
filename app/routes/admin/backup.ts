import { accepted } from "../../answers.server.ts";
import { apiContext } from "../../context.ts";
import type { Route } from "./+types/backup";

/** A copy with everybody's files, passed on as the API makes it. */
export async function loader({ context, params: { name } }: Route.LoaderArgs) {
  const answer = context.get(apiContext).api.system.backup[":name"].$get({ param: { name } });
  const { body, headers } = (await accepted(answer)) as unknown as Response;
  const kept = ["Content-Type", "Content-Disposition"].map((header) => [header, headers.get(header) ?? ""]);
  return new Response(body, { headers: Object.fromEntries(kept) });
}
