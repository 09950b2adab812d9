import { data, replace } from "react-router";
import { Dialog, DialogFoot } from "../../ui/dialog.tsx";
import { PostForm } from "../../ui/post-form.tsx";
import { sendForm } from "../../ui/send-form.ts";
import { UploadField } from "../../ui/upload-form.tsx";
import { refusedOrSaid, uploadFiles } from "../../uploads.server.ts";
import type { Route } from "./+types/create-documents";

export const meta: Route.MetaFunction = () => [{ title: "Crear documento · Tertulia" }];
export const handle = { dialog: true };

export async function action({ context, params: { id } }: Route.ActionArgs) {
  const refused = refusedOrSaid(context, await uploadFiles(context, { projectId: id }));
  return refused ? data(refused, 422) : replace(`/conversation/project/${id}`, 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function CreateDocuments({ actionData, params }: Route.ComponentProps) {
  const closeTo = `/conversation/project/${params.id}`;
  return (
    <Dialog title="Crear documento" closeTo={closeTo}>
      <PostForm className="contents" encType="multipart/form-data" preventScrollReset>
        <div className="body fields">
          <UploadField result={actionData ?? undefined} />
        </div>
        <DialogFoot cancelTo={closeTo}>
          <button type="submit" className="button primary">
            Guardar
          </button>
        </DialogFoot>
      </PostForm>
    </Dialog>
  );
}
