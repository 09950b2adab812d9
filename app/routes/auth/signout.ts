import { redirect, redirectDocument } from "react-router";
import { ApiProblem, accepted } from "../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../web/context.ts";
import type { Route } from "./+types/signout";
import { keepLeaving } from "./access/leaving-cookie.server.ts";

/** Ends the session on the server and forgets it here; if a provider opened the session, the browser goes on to end the one there. */
export async function action({ context, url }: Route.ActionArgs) {
  try {
    const query = { back: `${url.origin}/auth/signin` };
    const answer = await accepted(context.get(apiContext).auth.signout.$post({ query }));
    if (answer.status === 200) {
      const { url: there }: { url: string } = await answer.json();
      context.get(sessionContext).forget();
      return redirectDocument("/auth/salida", { headers: { "Set-Cookie": await keepLeaving(url, there) } });
    }
  } catch (error) {
    // The session has ended already; only the cookie is left to clear.
    if (!(error instanceof ApiProblem) || error.status !== 401) throw error;
  }
  context.get(sessionContext).forget();
  return redirect("/auth/signin");
}

export const loader = () => redirect("/");
