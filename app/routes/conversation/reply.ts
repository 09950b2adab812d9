import { redirect } from "react-router";
import { ApiProblem, accepted, read } from "../../answers.server.ts";
import { apiContext, formContext, sessionContext } from "../../context.ts";
import { textOf } from "../../form.server.ts";
import { sendForm } from "../../ui/send-form.ts";
import type { Route } from "./+types/reply";
import { firstChunk } from "./chunks.server.ts";

/** «Detener», «Reintentar», «Regenerar» and «Continuar»: then back to the chat. */
export async function action({ context, params }: Route.ActionArgs) {
  const { messageId } = params;
  const api = context.get(apiContext).api;
  const { chatId } = await read(api.message[":id"].$get({ param: { id: messageId } }));
  try {
    if (textOf(context.get(formContext), "intent") === "stop") {
      await accepted(api.intelligence.conversation[":messageId"].stop.$post({ param: { messageId } }));
    } else {
      await firstChunk(api.intelligence.conversation.$post({ json: { parentId: messageId } }));
    }
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.status === 404) throw error;
    context.get(sessionContext).flash({ type: "error", title: error.body.detail, duration: 0 });
  }
  return redirect(`/conversation/chat/${chatId}`, 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export const loader = () => redirect("/conversation/chat");
