import { redirect } from "react-router";
import { z } from "zod";
import { accepted } from "../../answers.server.ts";
import { apiContext, sessionContext } from "../../context.ts";
import { sendFields } from "../../form.server.ts";
import { currentPerson } from "../../person.server.ts";
import { Dialog, DialogFoot } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { Fields } from "../../ui/fields.tsx";
import { PostForm } from "../../ui/post-form.tsx";
import type { Route } from "./+types/delete-account";

export const meta: Route.MetaFunction = () => [{ title: "Eliminar mi cuenta · Tertulia" }];
export const handle = { dialog: true };

const fields = z.object({ currentPassword: z.string().default("") });

export const action = ({ context }: Route.ActionArgs) =>
  sendFields(context, fields, async (json) => {
    const { user } = await currentPerson(context);
    await accepted(context.get(apiContext).api.user[":id"].$delete({ param: { id: user.id }, json }));
    const session = context.get(sessionContext);
    session.forget();
    session.flash({ type: "success", title: "Tu cuenta y todo lo que había en ella se han eliminado." });
    return redirect("/auth/signin", 303);
  });

export default function DeleteAccount({ actionData }: Route.ComponentProps) {
  return (
    <Dialog title="Eliminar mi cuenta" closeTo="/user" kind="alert">
      {/* The next page belongs to nobody: nothing of this one may stay in the browser. */}
      <PostForm className="contents" reloadDocument>
        <div className="body fields">
          <p>
            Se borrarán tus conversaciones, tus archivos y tu uso. No se puede deshacer; si quieres guardar algo,{" "}
            <a href="/user/datos" download>
              descarga antes tus datos
            </a>
            .
          </p>
          <Fields id="eliminar" result={actionData}>
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
