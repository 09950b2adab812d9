import { accepted } from "../../web/api-result.server.ts";
import { apiContext } from "../../web/context.ts";
import { requireUser } from "../../web/current-user.server.ts";
import type { Route } from "./+types/export";

/** «Descargar mis datos». */
export async function loader({ context }: Route.LoaderArgs) {
  const { user } = await requireUser(context);
  const answer = await accepted(context.get(apiContext).api.user[":id"].export.$get({ param: { id: user.id } }));
  return new Response(answer.body as ReadableStream, { headers: answer.headers });
}
