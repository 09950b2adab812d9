import { redirect } from "react-router";
import { ApiProblem, accepted } from "../../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../../web/context.ts";
import type { Route } from "./+types/signed-in";

/** Where a server of tools sends an admin back to who has signed in there (OAuth). Its `state` proves that it was begun here. */
export async function loader({ context, params: { id }, url }: Route.LoaderArgs) {
  const session = context.get(sessionContext);
  const json = { brought: url.searchParams.toString() };
  try {
    await accepted(context.get(apiContext).api.tool[":id"]["sign-in"].end.$post({ param: { id }, json }));
    session.flash({ type: "success", title: "La sesión está iniciada." });
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.status === 404) throw error;
    session.flash({
      type: "error",
      title: Object.values(error.body.errors ?? {})[0] ?? error.body.detail,
      duration: 0,
    });
  }
  return redirect(`/admin/tool/${id}`, 303);
}
