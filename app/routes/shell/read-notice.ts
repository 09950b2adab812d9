import { redirect } from "react-router";
import { accepted, whenStatus } from "../../web/api-result.server.ts";
import { apiContext } from "../../web/context.ts";
import { pathOf } from "../../web/referer.server.ts";
import type { Route } from "./+types/read-notice";

/** «Entendido»: the notice is not shown to this person any more. */
export async function action({ context, params: { id }, request }: Route.ActionArgs) {
  const done = accepted(context.get(apiContext).api.notice[":id"].read.$post({ param: { id } }));
  // A notice that was withdrawn meanwhile counts as read.
  await done.catch(whenStatus(404, undefined));
  return redirect(pathOf(request.headers.get("Referer")), 303);
}

export const loader = () => redirect("/conversation/chat");
