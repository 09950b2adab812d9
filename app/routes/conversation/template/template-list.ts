import { limits } from "../../../process/limits.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import type { Route } from "./+types/template-list";

/** The templates, for the list that typing «/» opens in a composer. */
export async function loader({ context }: Route.LoaderArgs) {
  const { items } = await read(context.get(apiContext).api.template.$get({ query: { limit: String(limits.listMax) } }));
  return Response.json(items.map(({ title, content }) => ({ title, content })));
}
