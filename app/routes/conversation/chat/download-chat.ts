import { accepted } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import type { Route } from "./+types/download-chat";

/** A chat as a file: `?formato=markdown` or `json`. */
export async function loader({ context, params, url }: Route.LoaderArgs) {
  const format = url.searchParams.get("formato") === "json" ? ("json" as const) : ("markdown" as const);
  const { $get } = context.get(apiContext).api.chat[":id"].export;
  const answer = await accepted($get({ param: { id: params.id }, query: { format } }));
  return new Response(answer.body as ReadableStream, { headers: answer.headers });
}
