import { redirect } from "react-router";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { ApiProblem, accepted } from "../../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../../web/context.ts";
import type { Route } from "./+types/sessions";

/** Ends one session of the person, or all others; then back to the account. */
export async function action({ context, params: { id } }: Route.ActionArgs) {
  const { sessions } = context.get(apiContext).auth;
  try {
    await (id ? accepted(sessions[":id"].$delete({ param: { id } })) : accepted(sessions.$delete()));
  } catch (error) {
    // The session was already ended, for example in another tab: the result is the same, so this is no error.
    if (!(error instanceof ApiProblem) || error.status !== 404) throw error;
  }
  const title = id ? "Sesión cerrada." : "Se han cerrado las demás sesiones.";
  context.get(sessionContext).flash({ type: "success", title });
  return redirect("/user", 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export const loader = () => redirect("/user");
