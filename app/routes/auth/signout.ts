import { redirect } from "react-router";
import { ApiProblem, accepted } from "../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../web/context.ts";
import type { Route } from "./+types/signout";

/** Ends the session on the server and forgets it here. */
export async function action({ context }: Route.ActionArgs) {
  try {
    await accepted(context.get(apiContext).auth.signout.$post());
  } catch (error) {
    // The session has ended already; only the cookie is left to clear.
    if (!(error instanceof ApiProblem) || error.status !== 401) throw error;
  }
  context.get(sessionContext).forget();
  return redirect("/auth/signin");
}

export const loader = () => redirect("/");
