import { accepted } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import type { Route } from "./+types/download";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];

/** The table of a series of questions with its answers. */
export async function loader({ context, params: { id } }: Route.LoaderArgs) {
  return accepted(context.get(apiContext).api.batch[":id"].result.$get({ param: { id } }));
}
