import { data, replace } from "react-router";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { AlertDialog } from "../../../ui/overlays/alert-dialog.tsx";
import { accepted, read } from "../../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../../web/context.ts";
import type { Route } from "./+types/delete-api-key";

export const meta: Route.MetaFunction = () => [{ title: "Eliminar clave · Tertulia" }];
export const handle = { dialog: true };

export async function loader({ context, params: { id } }: Route.LoaderArgs) {
  const { items } = await read(context.get(apiContext).api.key.$get());
  const key = items.find((one) => one.id === id);
  if (!key) throw data(null, 404);
  return { name: key.name };
}

export async function action({ context, params: { id } }: Route.ActionArgs) {
  await accepted(context.get(apiContext).api.key[":id"].$delete({ param: { id } }));
  context.get(sessionContext).flash({ type: "success", title: "La clave está eliminada." });
  return replace("/user", 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function DeleteApiKey({ loaderData: { name } }: Route.ComponentProps) {
  return (
    <AlertDialog title="Eliminar clave" closeTo="/user">
      <p>Los programas que usan «{name}» dejarán de poder entrar. No se puede deshacer.</p>
    </AlertDialog>
  );
}
