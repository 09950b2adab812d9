import { accepted } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import type { Route } from "./+types/speech";

const passed = ["Content-Type", "Content-Range", "Accept-Ranges", "Cache-Control"];

/** A reply as it is read aloud, or the part of it that a player asks for. */
export async function loader({ context, params: { messageId }, request }: Route.LoaderArgs) {
  const range = request.headers.get("Range");
  const { speech } = context.get(apiContext).api.message[":id"];
  const options = range ? { headers: { Range: range } } : {};
  const answer = await accepted(speech.$get({ param: { id: messageId } }, options));
  const headers = passed.flatMap((name): [string, string][] => {
    const value = answer.headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  return new Response(await answer.arrayBuffer(), { status: answer.status, headers });
}
