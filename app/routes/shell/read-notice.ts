import { redirect } from "react-router";
import { ApiProblem, accepted } from "../../web/api-result.server.ts";
import { apiContext } from "../../web/context.ts";
import { pathOf } from "../../web/referer.server.ts";
import type { Route } from "./+types/read-notice";

/** «Entendido»: the notice is not shown to this person any more. */
export async function action({ context, params: { id }, request }: Route.ActionArgs) {
  try {
    await accepted(context.get(apiContext).api.notice[":id"].read.$post({ param: { id } }));
  } catch (error) {
    // It was taken back meanwhile, which comes to the same.
    if (!(error instanceof ApiProblem) || error.status !== 404) throw error;
  }
  return redirect(pathOf(request.headers.get("Referer")), 303);
}

export const loader = () => redirect("/conversation/chat");
