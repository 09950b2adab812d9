import { accepted } from "../../answers.server.ts";
import { apiContext } from "../../context.ts";
import { currentPerson } from "../../person.server.ts";
import type { Route } from "./+types/export";

/** «Descargar mis datos». */
export async function loader({ context }: Route.LoaderArgs) {
  const { user } = await currentPerson(context);
  const answer = await accepted(context.get(apiContext).api.user[":id"].export.$get({ param: { id: user.id } }));
  return new Response(answer.body as ReadableStream, { headers: answer.headers });
}
