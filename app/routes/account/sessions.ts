import { redirect } from "react-router";
import { ApiProblem, accepted } from "../../answers.server.ts";
import { apiContext, sessionContext } from "../../context.ts";
import { sendForm } from "../../ui/send-form.ts";
import type { Route } from "./+types/sessions";

/** Ends one session of the person, or all others; then back to the account. */
export async function action({ context, params: { id } }: Route.ActionArgs) {
  const { sessions } = context.get(apiContext).auth;
  try {
    await (id ? accepted(sessions[":id"].$delete({ param: { id } })) : accepted(sessions.$delete()));
  } catch (error) {
    // Ended meanwhile, in another tab: it is what was asked for.
    if (!(error instanceof ApiProblem) || error.status !== 404) throw error;
  }
  const title = id ? "Sesión cerrada." : "Se han cerrado las demás sesiones.";
  context.get(sessionContext).flash({ type: "success", title });
  return redirect("/user", 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export const loader = () => redirect("/user");
