import { redirect } from "react-router";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { accepted, read } from "../../../web/api-result.server.ts";
import { apiContext, formContext, sessionContext } from "../../../web/context.ts";
import { textOf } from "../../../web/forms/form.server.ts";
import type { Route } from "./+types/reply-feed";

/** Makes the address of the person's feed, makes it anew, or ends it. */
export async function action({ context }: Route.ActionArgs) {
  const { feed } = context.get(apiContext).api;
  const ends = textOf(context.get(formContext), "intent") === "end";
  await (ends ? accepted(feed.$delete()) : read(feed.$put()));
  const title = ends ? "La dirección del canal ya no vale." : "La dirección del canal está lista.";
  context.get(sessionContext).flash({ type: "success", title });
  return redirect("/user/avisos", 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export const loader = () => redirect("/user/avisos");
