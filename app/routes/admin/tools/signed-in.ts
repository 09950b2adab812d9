import { redirect } from "react-router";
import { accepted, tellRefusal } from "../../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../../web/context.ts";
import type { Route } from "./+types/signed-in";

/**
 * Address to which a server of tools sends an administrator back after signing in there (OAuth). The `state` proves that the sign-in was
 * begun here.
 */
export async function loader({ context, params: { id }, url }: Route.LoaderArgs) {
  const json = { brought: url.searchParams.toString() };
  await accepted(context.get(apiContext).api.tool[":id"]["sign-in"].end.$post({ param: { id }, json })).then(
    () => context.get(sessionContext).flash({ type: "success", title: "La sesión está iniciada." }),
    tellRefusal(context),
  );
  return redirect(`/admin/tool/${id}`, 303);
}
