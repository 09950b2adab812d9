import { redirect } from "react-router";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { accepted, read, tellRefusal } from "../../../web/api-result.server.ts";
import { apiContext, formContext, sessionContext } from "../../../web/context.ts";
import { textOf } from "../../../web/forms/form.server.ts";
import { noticeOf } from "../reply-notice.server.ts";
import { firstChunk } from "../stream/chunks.server.ts";
import type { Route } from "./+types/reply";

/** Sentences shown after «Avísame»; the page stays as it is. */
const notified = {
  mail: "Te llegará un correo cuando la respuesta esté.",
  device: "Te llegará un aviso cuando la respuesta esté.",
};

/** «Avísame», «Detener», «Reintentar», «Regenerar» and «Continuar»: then back to the chat. */
export async function action({ context, params }: Route.ActionArgs) {
  const { messageId } = params;
  const api = context.get(apiContext).api;
  const { chatId } = await read(api.message[":id"].$get({ param: { id: messageId } }));
  try {
    const intent = textOf(context.get(formContext), "intent");
    if (intent === "notify") {
      await accepted(api.intelligence.conversation[":messageId"].notify.$post({ param: { messageId } }));
      const notice = await noticeOf(context, messageId);
      if (notice) context.get(sessionContext).flash({ type: "success", title: notified[notice.by] });
    } else if (intent === "stop") {
      await accepted(api.intelligence.conversation[":messageId"].stop.$post({ param: { messageId } }));
    } else {
      await firstChunk(api.intelligence.conversation.$post({ json: { parentId: messageId } }));
    }
  } catch (error) {
    tellRefusal(context)(error);
  }
  return redirect(`/conversation/chat/${chatId}`, 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export const loader = () => redirect("/conversation/chat");
