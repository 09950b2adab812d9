import { replace, useRouteLoaderData } from "react-router";
import { accepted } from "../../answers.server.ts";
import { apiContext, formContext, sessionContext } from "../../context.ts";
import { Dialog, DialogFoot } from "../../ui/dialog.tsx";
import { PostForm } from "../../ui/post-form.tsx";
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
    <Dialog title="Eliminar conversación" closeTo={closeTo} kind="alert">
      <PostForm className="contents">
        <div className="body">
          <p>
            «{chat?.title}» y todos sus mensajes se borrarán. Lo que adjuntaste sigue en tus archivos. No se puede
            deshacer.
          </p>
        </div>
        <DialogFoot cancelTo={closeTo}>
          {/* biome-ignore lint/a11y/noAutofocus: Enter confirms an alert */}
          <button type="submit" className="button danger sure" autoFocus>
            Confirmar
          </button>
        </DialogFoot>
      </PostForm>
    </Dialog>
  );
}
