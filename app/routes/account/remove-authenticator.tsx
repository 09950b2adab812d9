import { replace } from "react-router";
import { z } from "zod";
import { accepted } from "../../answers.server.ts";
import { apiContext, sessionContext } from "../../context.ts";
import { sendFields } from "../../form.server.ts";
import { Dialog, DialogFoot } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Fields } from "../../ui/fields.tsx";
import { PostForm } from "../../ui/post-form.tsx";
import { sendForm } from "../../ui/send-form.ts";
import type { Route } from "./+types/remove-authenticator";

export const meta: Route.MetaFunction = () => [{ title: "Verificación en dos pasos · Tertulia" }];
export const handle = { dialog: true };

const fields = z.object({ currentPassword: z.string().default("") });

export const action = ({ context }: Route.ActionArgs) =>
  sendFields(context, fields, async (json) => {
    await accepted(context.get(apiContext).auth.authenticator.$delete({ json }));
    context.get(sessionContext).flash({ type: "warning", title: "La verificación en dos pasos está desactivada." });
    return replace("/user", 303);
  });

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function RemoveAuthenticator({ actionData }: Route.ComponentProps) {
  return (
    <Dialog title="Desactivar la verificación" closeTo="/user" kind="alert">
      <PostForm className="contents" preventScrollReset>
        <div className="body fields">
          <p>Para entrar bastará la contraseña. Los códigos de recuperación dejarán de valer.</p>
          <Fields id="desactivar" result={actionData ?? undefined}>
            <Field
              name="currentPassword"
              label="Contraseña actual"
              type="password"
              autoComplete="current-password"
              required
              autoFocus
            />
          </Fields>
        </div>
        <DialogFoot cancelTo="/user">
          <button type="submit" className="button danger sure">
            Confirmar
          </button>
        </DialogFoot>
      </PostForm>
    </Dialog>
  );
}
