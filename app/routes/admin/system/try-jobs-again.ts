import { redirect } from "react-router";
import { read } from "../../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../../web/context.ts";
import type { Route } from "./+types/try-jobs-again";

/** «Intentar otra vez los que han fallado». */
export async function action({ context }: Route.ActionArgs) {
  const { again } = await read(context.get(apiContext).api.job.again.$post());
  const title = again === 1 ? "Un trabajo se intenta otra vez." : `${again} trabajos se intentan otra vez.`;
  context.get(sessionContext).flash({ type: "success", title });
  return redirect("/admin/sistema", 303);
}

export const loader = () => redirect("/admin/sistema");
