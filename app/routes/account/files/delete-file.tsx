import { replace } from "react-router";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { AlertDialog } from "../../../ui/overlays/alert-dialog.tsx";
import { accepted, read } from "../../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../../web/context.ts";
import type { Route } from "./+types/delete-file";

export const meta: Route.MetaFunction = () => [{ title: "Eliminar archivo · Tertulia" }];
export const handle = { dialog: true };

export async function loader({ context, params }: Route.LoaderArgs) {
  const { name } = await read(context.get(apiContext).api.file[":id"].$get({ param: { id: params.id } }));
  return { name };
}

export async function action({ context, params }: Route.ActionArgs) {
  await accepted(context.get(apiContext).api.file[":id"].$delete({ param: { id: params.id } }));
  context.get(sessionContext).flash({ type: "success", title: "Archivo eliminado." });
  return replace("/user/file", 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function DeleteFile({ loaderData }: Route.ComponentProps) {
  return (
    <AlertDialog title="Eliminar archivo" closeTo="/user/file">
      <p>
        «{loaderData.name}» se borrará de aquí, de su proyecto y de los mensajes con los que se envió, que conservan su
        nombre. No se puede deshacer.
      </p>
    </AlertDialog>
  );
}
