import { replace, useRouteLoaderData } from "react-router";
import { accepted } from "../../answers.server.ts";
import { apiContext, formContext, sessionContext } from "../../context.ts";
import { AlertDialog } from "../../ui/alert-dialog.tsx";
import { sendForm } from "../../ui/send-form.ts";
import type { Route } from "./+types/delete-chat";
import type { loader as chatLoader } from "./chat.tsx";

export const meta: Route.MetaFunction = () => [{ title: "Eliminar conversación · Tertulia" }];

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);
export const handle = { dialog: true };

export async function action({ context, params }: Route.ActionArgs) {
  await accepted(context.get(apiContext).api.chat[":id"].$delete({ param: { id: params.id } }));
  // A script has said it already, ten seconds ago.
  if (!context.get(formContext).has("quietly")) {
    context.get(sessionContext).flash({ type: "success", title: "Conversación eliminada." });
  }
  return replace("/conversation/chat");
}

export default function DeleteChat({ params }: Route.ComponentProps) {
  const chat = useRouteLoaderData<typeof chatLoader>("routes/conversation/chat");
  const closeTo = `/conversation/chat/${params.id}`;
  return (
    <AlertDialog title="Eliminar conversación" closeTo={closeTo}>
      <p>
        «{chat?.title}» y todos sus mensajes se borrarán. Lo que adjuntaste sigue en tus archivos. No se puede deshacer.
      </p>
    </AlertDialog>
  );
}
