import { redirect } from "react-router";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { accepted, whenStatus } from "../../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../../web/context.ts";
import type { Route } from "./+types/sessions";

/** Ends one session of the person, or all others; then back to the account. */
export async function action({ context, params: { id } }: Route.ActionArgs) {
  const { sessions } = context.get(apiContext).auth;
  // A session that was already ended, for example in another tab, is no error: the result is the same.
  await (id
    ? accepted(sessions[":id"].$delete({ param: { id } })).catch(whenStatus(404, undefined))
    : accepted(sessions.$delete()));
  const title = id ? "Sesión cerrada." : "Se han cerrado las demás sesiones.";
  context.get(sessionContext).flash({ type: "success", title });
  return redirect("/user/seguridad", 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export const loader = () => redirect("/user/seguridad");
