import { replace, useRouteLoaderData } from "react-router";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { AlertDialog } from "../../../ui/overlays/alert-dialog.tsx";
import { accepted } from "../../../web/api-result.server.ts";
import { apiContext, formContext, sessionContext } from "../../../web/context.ts";
import type { Route } from "./+types/delete-chat";
import type { loader as chatLoader } from "./chat.tsx";

export const meta = titled("Eliminar conversación");

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);
export const handle = { dialog: true };

export async function action({ context, params }: Route.ActionArgs) {
  await accepted(context.get(apiContext).api.chat[":id"].$delete({ param: { id: params.id } }));
  // `quietly` comes from `deleteLater`, which showed the notice before its ten seconds for undoing.
  if (!context.get(formContext).has("quietly")) {
    context.get(sessionContext).flash({ type: "success", title: "Conversación eliminada." });
  }
  return replace("/conversation/chat");
}

export default function DeleteChat({ params }: Route.ComponentProps) {
  const chat = useRouteLoaderData<typeof chatLoader>("routes/conversation/chat/chat");
  const closeTo = `/conversation/chat/${params.id}`;
  return (
    <AlertDialog title="Eliminar conversación" closeTo={closeTo}>
      <p>
        «{chat?.title}» y todos sus mensajes se borrarán. Lo que adjuntaste sigue en tus archivos. No se puede deshacer.
      </p>
    </AlertDialog>
  );
}
