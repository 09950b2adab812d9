import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import type { Route } from "./+types/text";

/** A message as plain text: what «Copiar» shows without a script, and copies with one. */
export async function loader({ context, params }: Route.LoaderArgs) {
  const param = { id: params.messageId };
  const { content } = await read(context.get(apiContext).api.message[":id"].$get({ param }));
  return new Response(content, { headers: { "Content-Type": "text/plain; charset=utf-8" } });
}
