import { replace } from "react-router";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { AlertDialog } from "../../../ui/overlays/alert-dialog.tsx";
import { accepted, read } from "../../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../../web/context.ts";
import type { Route } from "./+types/delete-assistant";

export const meta: Route.MetaFunction = () => [{ title: "Eliminar asistente · Tertulia" }];
export const handle = { dialog: true };

export async function loader({ context, params: { id } }: Route.LoaderArgs) {
  const { name } = await read(context.get(apiContext).api.assistant[":id"].$get({ param: { id } }));
  return { name };
}

export async function action({ context, params: { id } }: Route.ActionArgs) {
  await accepted(context.get(apiContext).api.assistant[":id"].$delete({ param: { id } }));
  context.get(sessionContext).flash({ type: "success", title: "Asistente eliminado." });
  return replace("/conversation/assistant", 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function DeleteAssistant({ loaderData: { name } }: Route.ComponentProps) {
  return (
    <AlertDialog title="Eliminar asistente" closeTo="/conversation/assistant">
      <p>«{name}» se borrará. Las conversaciones con él se quedan y siguen con su modelo. No se puede deshacer.</p>
    </AlertDialog>
  );
}
