import { Link } from "react-router";
import { z } from "zod";
import { Fields } from "../../ui/forms/fields.tsx";
import { EmailField } from "../../ui/forms/person-fields.tsx";
import { FormTokenField } from "../../ui/forms/post-form.tsx";
import { titled } from "../../ui/navigation/page-title.ts";
import { accepted, read } from "../../web/api-result.server.ts";
import { apiContext } from "../../web/context.ts";
import { sendFields } from "../../web/forms/form.server.ts";
import type { Route } from "./+types/forgot";

export const meta = titled("Contraseña olvidada");

export const loader = ({ context }: Route.LoaderArgs) => read(context.get(apiContext).auth.options.$get());

const fields = z.object({ email: z.string().default("") });

export const action = ({ context }: Route.ActionArgs) =>
  sendFields(context, fields, async (json) => {
    await accepted(context.get(apiContext).auth.reset.$post({ json }));
    return { sentTo: json.email };
  });

export default function Forgot({ loaderData: { reset }, actionData }: Route.ComponentProps) {
  return (
    <>
      <h1>Contraseña olvidada</h1>
      {!reset && <p>Esta instalación no envía correos. Pide una contraseña nueva a quien la administra.</p>}
      {actionData && "sentTo" in actionData ? (
        <p role="status">
          Si hay una cuenta con {actionData.sentTo}, en unos minutos recibirá un enlace para poner una contraseña nueva.
          Vale una hora.
        </p>
      ) : (
        reset && (
          <form className="fields" method="post">
            <FormTokenField />
            <Fields id="olvido" result={actionData}>
              <EmailField autoComplete="username" hint="Te enviaremos un enlace para poner una contraseña nueva." />
            </Fields>
            <button type="submit" className="button primary">
              Enviar enlace
            </button>
          </form>
        )
      )}
      <p className="after">
        <Link to="/auth/signin">Volver a iniciar sesión</Link>
      </p>
    </>
  );
}
