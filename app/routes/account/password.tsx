import { replace } from "react-router";
import { z } from "zod";
import { accepted } from "../../answers.server.ts";
import { apiContext, sessionContext } from "../../context.ts";
import { sendFields } from "../../form.server.ts";
import { limits } from "../../limits.ts";
import { currentPerson } from "../../person.server.ts";
import { Dialog, DialogFoot } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Fields } from "../../ui/fields.tsx";
import { PostForm } from "../../ui/post-form.tsx";
import { sendForm } from "../../ui/send-form.ts";
import type { Route } from "./+types/password";

export const meta: Route.MetaFunction = () => [{ title: "Cambiar contraseña · Tertulia" }];
export const handle = { dialog: true };

const fields = z.object({ currentPassword: z.string().default(""), password: z.string().default("") });

export const action = ({ context }: Route.ActionArgs) =>
  sendFields(context, fields, async (json) => {
    const { user } = await currentPerson(context);
    await accepted(context.get(apiContext).api.user[":id"].$patch({ param: { id: user.id }, json }));
    context.get(sessionContext).flash({
      type: "success",
      title: "Contraseña cambiada.",
      description: "Tus demás sesiones se han cerrado y las claves de tus programas ya no valen.",
    });
    return replace("/user", 303);
  });

export const clientAction = (args: Route.ClientActionArgs) => sendForm(args);

export default function Password({ actionData }: Route.ComponentProps) {
  return (
    <Dialog title="Cambiar contraseña" closeTo="/user">
      <PostForm className="contents" preventScrollReset>
        <div className="body fields">
          <Fields id="contrasena" result={actionData ?? undefined}>
            <Field
              name="currentPassword"
              label="Contraseña actual"
              type="password"
              autoComplete="current-password"
              required
              autoFocus
            />
            <Field
              name="password"
              label="Contraseña nueva"
              hint={`${limits.passwordMin} caracteres o más. Al cambiarla se cierran tus demás sesiones.`}
              type="password"
              autoComplete="new-password"
              required
              minLength={limits.passwordMin}
              maxLength={limits.passwordMax}
            />
          </Fields>
        </div>
        <DialogFoot cancelTo="/user">
          <button type="submit" className="button primary">
            Guardar
          </button>
        </DialogFoot>
      </PostForm>
    </Dialog>
  );
}
