import { replace } from "react-router";
import { z } from "zod";
import { limits } from "../../../process/limits.ts";
import { Fields } from "../../../ui/forms/fields.tsx";
import { CurrentPasswordField, JustCameIn, NewPasswordField } from "../../../ui/forms/person-fields.tsx";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { FormDialog } from "../../../ui/overlays/form-dialog.tsx";
import { accepted } from "../../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import type { Route } from "./+types/password";

export const meta = titled("Cambiar contraseña");
export const handle = { dialog: true };

export async function loader({ context }: Route.LoaderArgs) {
  return { hasPassword: (await requireUser(context)).user.hasPassword };
}

const fields = z.object({ currentPassword: z.string().default(""), password: z.string().default("") });

export const action = ({ context }: Route.ActionArgs) =>
  sendFields(context, fields, async (json) => {
    const { user } = await requireUser(context);
    await accepted(context.get(apiContext).api.user[":id"].$patch({ param: { id: user.id }, json }));
    context.get(sessionContext).flash({
      type: "success",
      title: "Contraseña cambiada.",
      description: "Tus demás sesiones se han cerrado y las claves de tus programas ya no valen.",
    });
    return replace("/user/seguridad", 303);
  });

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function Password({ loaderData: { hasPassword }, actionData }: Route.ComponentProps) {
  return (
    <FormDialog
      title={hasPassword ? "Cambiar contraseña" : "Poner una contraseña"}
      closeTo="/user/seguridad"
      preventScrollReset
    >
      <Fields id="contrasena" result={actionData ?? undefined}>
        {hasPassword ? <CurrentPasswordField autoFocus /> : <JustCameIn />}
        <NewPasswordField
          label="Contraseña nueva"
          hint={`${limits.passwordMin} caracteres o más. Al cambiarla se cierran tus demás sesiones.`}
        />
      </Fields>
    </FormDialog>
  );
}
