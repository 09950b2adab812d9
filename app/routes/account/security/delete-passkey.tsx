import { data, replace } from "react-router";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { AlertDialog } from "../../../ui/overlays/alert-dialog.tsx";
import { accepted, read } from "../../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../../web/context.ts";
import type { Route } from "./+types/delete-passkey";

export const meta: Route.MetaFunction = () => [{ title: "Eliminar llave de acceso · Tertulia" }];
export const handle = { dialog: true };

export async function loader({ context, params: { id } }: Route.LoaderArgs) {
  const { items } = await read(context.get(apiContext).auth.passkey.$get());
  const passkey = items.find((one) => one.id === id);
  if (!passkey) throw data(null, 404);
  return { name: passkey.name };
}

export async function action({ context, params: { id } }: Route.ActionArgs) {
  await accepted(context.get(apiContext).auth.passkey[":id"].$delete({ param: { id } }));
  context.get(sessionContext).flash({ type: "success", title: "La llave está eliminada." });
  return replace("/user", 303);
}

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function DeletePasskey({ loaderData: { name } }: Route.ComponentProps) {
  return (
    <AlertDialog title="Eliminar llave de acceso" closeTo="/user">
      <p>Con «{name}» ya no se podrá entrar. Bórrala después también del dispositivo que la guarda.</p>
    </AlertDialog>
  );
}
