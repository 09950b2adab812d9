import { replace, useRouteLoaderData } from "react-router";
import { accepted } from "../../answers.server.ts";
import { apiContext, sessionContext } from "../../context.ts";
import { Dialog, DialogFoot } from "../../ui/dialog.tsx";
import { PostForm } from "../../ui/post-form.tsx";
import { sendForm } from "../../ui/send-form.ts";
import type { Route } from "./+types/delete-document";
import type { loader as projectLoader } from "./project.tsx";

export const meta: Route.MetaFunction = () => [{ title: "Eliminar documento · Tertulia" }];
export const handle = { dialog: true };

export async function action({ context, params: { id, fileId } }: Route.ActionArgs) {
  await accepted(context.get(apiContext).api.file[":id"].$delete({ param: { id: fileId } }));
  context.get(sessionContext).flash({ type: "success", title: "Documento eliminado." });
  return replace(`/conversation/project/${id}`, 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function DeleteDocument({ params }: Route.ComponentProps) {
  const page = useRouteLoaderData<typeof projectLoader>("routes/conversation/project");
  const closeTo = `/conversation/project/${params.id}`;
  const name = page?.documents.find(({ id }) => id === params.fileId)?.name;
  return (
    <Dialog title="Eliminar documento" closeTo={closeTo} kind="alert">
      <PostForm className="contents">
        <div className="body">
          <p>{name ? `«${name}»` : "El documento"} se borrará y el modelo dejará de tenerlo. No se puede deshacer.</p>
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
