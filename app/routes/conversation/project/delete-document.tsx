import { replace, useRouteLoaderData } from "react-router";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { AlertDialog } from "../../../ui/overlays/alert-dialog.tsx";
import { accepted } from "../../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../../web/context.ts";
import type { Route } from "./+types/delete-document";
import type { loader as projectLoader } from "./project.tsx";

export const meta = titled("Eliminar documento");
export const handle = { dialog: true };

export async function action({ context, params: { id, fileId } }: Route.ActionArgs) {
  await accepted(context.get(apiContext).api.file[":id"].$delete({ param: { id: fileId } }));
  context.get(sessionContext).flash({ type: "success", title: "Documento eliminado." });
  return replace(`/conversation/project/${id}`, 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function DeleteDocument({ params }: Route.ComponentProps) {
  const page = useRouteLoaderData<typeof projectLoader>("routes/conversation/project/project");
  const closeTo = `/conversation/project/${params.id}`;
  const name = page?.documents.items.find(({ id }) => id === params.fileId)?.name;
  return (
    <AlertDialog title="Eliminar documento" closeTo={closeTo}>
      <p>{name ? `«${name}»` : "El documento"} se borrará y el modelo dejará de tenerlo. No se puede deshacer.</p>
    </AlertDialog>
  );
}
