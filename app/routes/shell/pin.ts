import { redirect } from "react-router";
import { sendForm } from "../../ui/forms/send-form.ts";
import { accepted } from "../../web/api-result.server.ts";
import { apiContext, formContext } from "../../web/context.ts";
import { textOf } from "../../web/forms/form.server.ts";
import { pathOf } from "../../web/referer.server.ts";
import type { Route } from "./+types/pin";

/** Pins or unpins a conversation from its row in the sidebar, and returns to the page. */
export async function action({ context, request }: Route.ActionArgs) {
  const form = context.get(formContext);
  const pinned = form.has("pin");
  const param = { id: textOf(form, pinned ? "pin" : "unpin") };
  await accepted(context.get(apiContext).api.chat[":id"].$patch({ param, json: { pinned } }));
  return redirect(pathOf(request.headers.get("Referer")), 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export const loader = () => redirect("/conversation/chat");
