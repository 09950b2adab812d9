import { replace, useRouteLoaderData } from "react-router";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { AlertDialog } from "../../../ui/overlays/alert-dialog.tsx";
import { accepted } from "../../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../../web/context.ts";
import type { Route } from "./+types/delete-project";
import type { loader as projectLoader } from "./project.tsx";

export const meta = titled("Eliminar proyecto");
export const handle = { dialog: true };

export async function action({ context, params: { id } }: Route.ActionArgs) {
  await accepted(context.get(apiContext).api.project[":id"].$delete({ param: { id } }));
  context.get(sessionContext).flash({ type: "success", title: "Proyecto eliminado." });
  return replace("/conversation/project", 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function DeleteProject({ params }: Route.ComponentProps) {
  const page = useRouteLoaderData<typeof projectLoader>("routes/conversation/project/project");
  const closeTo = `/conversation/project/${params.id}`;
  const goes = [
    counted(page?.documents.total ?? 0, "su documento", "documentos"),
    counted(page?.total ?? 0, "su conversación", "conversaciones"),
  ].filter(Boolean);
  return (
    <AlertDialog title="Eliminar proyecto" closeTo={closeTo}>
      <p>
        «{page?.project.name}» se borrará{goes.length > 0 && ` con ${goes.join(" y ")}`}. No se puede deshacer.
      </p>
    </AlertDialog>
  );
}

const counted = (count: number, one: string, many: string) =>
  count === 0 ? "" : count === 1 ? one : `sus ${count} ${many}`;
