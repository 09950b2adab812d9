import { read } from "../../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../../web/context.ts";
import type { Route } from "./+types/token";

/**
 * The person who is signed in, and the token of their forms: the service worker needs both to send (`public/sw.js`). Only our own pages can
 * read it.
 */
export async function loader({ context }: Route.LoaderArgs) {
  const { user } = await read(context.get(apiContext).auth.session.$get());
  return Response.json({ personId: user.id, formToken: context.get(sessionContext).formToken });
}
