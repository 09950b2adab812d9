import { drawingResponse } from "../../markdown/drawings/drawing-response.server.ts";
import { read } from "../../web/api-result.server.ts";
import { apiContext } from "../../web/context.ts";
import type { Route } from "./+types/shared-drawing";

/** A drawing in a message of a shared chat, as a picture. The message is on the page of the messages before `before`. */
export async function loader({ context, params: { token, before, id, key }, request }: Route.LoaderArgs) {
  const query = before === lastPage ? {} : { before };
  const { items } = await read(context.get(apiContext).api.share[":token"].$get({ param: { token }, query }));
  const texts = items.filter((one) => one.id === id).map(({ content }) => content);
  const picture = await drawingResponse(texts, key, { request, owner: token });
  if (!picture) throw new Response(null, { status: 404 });
  return picture;
}

/** Stands in an address in place of `before`, for the page of the last messages. */
export const lastPage = "final";
