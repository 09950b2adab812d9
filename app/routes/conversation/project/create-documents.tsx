import { data, replace } from "react-router";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { DocumentFields } from "../../../ui/forms/upload-form.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { FormDialog } from "../../../ui/overlays/form-dialog.tsx";
import { keepDocuments } from "../../../web/forms/uploads.server.ts";
import type { Route } from "./+types/create-documents";

export const meta = titled("Crear documento");
export const handle = { dialog: true };

export async function action({ context, params: { id } }: Route.ActionArgs) {
  const refused = await keepDocuments(context, { projectId: id });
  return refused ? data(refused, 422) : replace(`/conversation/project/${id}`, 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function CreateDocuments({ actionData, params }: Route.ComponentProps) {
  const closeTo = `/conversation/project/${params.id}`;
  return (
    <FormDialog title="Crear documento" closeTo={closeTo} encType="multipart/form-data" preventScrollReset>
      <DocumentFields result={actionData ?? undefined} />
    </FormDialog>
  );
}
