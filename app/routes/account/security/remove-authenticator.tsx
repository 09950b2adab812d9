import { replace } from "react-router";
import { z } from "zod";
import { Fields } from "../../../ui/forms/fields.tsx";
import { CurrentPasswordField } from "../../../ui/forms/person-fields.tsx";
import { sendForm } from "../../../ui/forms/send-form.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { FormDialog } from "../../../ui/overlays/form-dialog.tsx";
import { accepted } from "../../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../../web/context.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import type { Route } from "./+types/remove-authenticator";

export const meta = titled("Verificación en dos pasos");
export const handle = { dialog: true };

const fields = z.object({ currentPassword: z.string().default("") });

export const action = ({ context }: Route.ActionArgs) =>
  sendFields(context, fields, async (json) => {
    await accepted(context.get(apiContext).auth.authenticator.$delete({ json }));
    context.get(sessionContext).flash({ type: "warning", title: "La verificación en dos pasos está desactivada." });
    return replace("/user/seguridad", 303);
  });

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function RemoveAuthenticator({ actionData }: Route.ComponentProps) {
  return (
    <FormDialog title="Desactivar la verificación" closeTo="/user/seguridad" kind="alert" preventScrollReset>
      <p>Para entrar bastará la contraseña. Los códigos de recuperación dejarán de valer.</p>
      <Fields id="desactivar" result={actionData ?? undefined}>
        <CurrentPasswordField autoFocus />
      </Fields>
    </FormDialog>
  );
}
