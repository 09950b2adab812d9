import { redirect } from "react-router";
import { z } from "zod";
import { Fields } from "../../ui/forms/fields.tsx";
import { CurrentPasswordField, JustCameIn } from "../../ui/forms/person-fields.tsx";
import { titled } from "../../ui/navigation/page-title.ts";
import { FormDialog } from "../../ui/overlays/form-dialog.tsx";
import { accepted } from "../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../web/context.ts";
import { requireUser } from "../../web/current-user.server.ts";
import { sendFields } from "../../web/forms/form.server.ts";
import type { Route } from "./+types/delete-account";

export const meta = titled("Eliminar mi cuenta");
export const handle = { dialog: true };

const fields = z.object({ currentPassword: z.string().default("") });

export async function loader({ context }: Route.LoaderArgs) {
  const { user } = await requireUser(context);
  return { administers: user.role === "admin", hasPassword: user.hasPassword };
}

export const action = ({ context }: Route.ActionArgs) =>
  sendFields(context, fields, async (json) => {
    const { user } = await requireUser(context);
    await accepted(context.get(apiContext).api.user[":id"].$delete({ param: { id: user.id }, json }));
    const session = context.get(sessionContext);
    session.forget();
    session.flash({ type: "success", title: "Tu cuenta y todo lo que había en ella se han eliminado." });
    return redirect("/auth/signin", 303);
  });

export default function DeleteAccount({ loaderData, actionData }: Route.ComponentProps) {
  // Afterwards nobody is signed in: a full page load clears everything of this account from memory.
  return (
    <FormDialog title="Eliminar mi cuenta" closeTo="/user/datos" kind="alert" reloadDocument>
      <p>
        Se borrarán tus conversaciones, tus archivos y tu uso. No se puede deshacer; si quieres guardar algo,{" "}
        <a href="/user/datos">descarga antes tus datos</a>.
      </p>
      {loaderData.administers && (
        <p>
          Administras esta instalación: si nadie más lo hace, antes tienes que nombrar a otra persona en{" "}
          <a href="/admin/user">Usuarios</a>.
        </p>
      )}
      <Fields id="eliminar" result={actionData}>
        {loaderData.hasPassword ? <CurrentPasswordField autoFocus /> : <JustCameIn />}
      </Fields>
    </FormDialog>
  );
}
