import { replace } from "react-router";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { AlertDialog } from "../../../ui/overlays/alert-dialog.tsx";
import { accepted, read } from "../../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../../web/context.ts";
import type { Route } from "./+types/delete-template";

export const meta: Route.MetaFunction = () => [{ title: "Eliminar plantilla · Tertulia" }];
export const handle = { dialog: true };

export async function loader({ context, params: { id } }: Route.LoaderArgs) {
  const { title } = await read(context.get(apiContext).api.template[":id"].$get({ param: { id } }));
  return { title };
}

export async function action({ context, params: { id } }: Route.ActionArgs) {
  await accepted(context.get(apiContext).api.template[":id"].$delete({ param: { id } }));
  context.get(sessionContext).flash({ type: "success", title: "Plantilla eliminada." });
  return replace("/conversation/template", 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function DeleteTemplate({ loaderData: { title } }: Route.ComponentProps) {
  return (
    <AlertDialog title="Eliminar plantilla" closeTo="/conversation/template">
      <p>«{title}» se borrará. No se puede deshacer.</p>
    </AlertDialog>
  );
}
