import { replace } from "react-router";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { AlertDialog } from "../../../ui/overlays/alert-dialog.tsx";
import { accepted } from "../../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../../web/context.ts";
import type { Route } from "./+types/delete-backup";

const here = "/admin/sistema";

export const meta: Route.MetaFunction = () => [{ title: "Eliminar copia · Tertulia" }];
export const handle = { dialog: true };

// Empty loader: without one, client navigations would skip the layout's middleware.
export const loader = () => null;

export async function action({ context, params: { name } }: Route.ActionArgs) {
  await accepted(context.get(apiContext).api.system.backup[":name"].$delete({ param: { name } }));
  context.get(sessionContext).flash({ type: "success", title: "La copia está borrada." });
  return replace(here, 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function DeleteBackup({ params: { name } }: Route.ComponentProps) {
  return (
    <AlertDialog title="Eliminar copia" closeTo={here}>
      <p>«{name}» se borrará del servidor. No se puede deshacer.</p>
    </AlertDialog>
  );
}
