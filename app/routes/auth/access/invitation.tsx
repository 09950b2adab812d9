import { redirect } from "react-router";
import { z } from "zod";
import { Fields } from "../../../ui/forms/fields.tsx";
import { EmailField, NameField, NewPasswordField } from "../../../ui/forms/person-fields.tsx";
import { FormTokenField } from "../../../ui/forms/post-form.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { accepted, read, refusalIn } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { sendFields } from "../../../web/forms/form.server.ts";
import type { Route } from "./+types/invitation";

export const meta = titled("Invitación");

export async function loader({ context, params: { token } }: Route.LoaderArgs) {
  try {
    const { email } = await read(context.get(apiContext).auth.invitation[":token"].$get({ param: { token } }));
    return { email, refused: undefined };
  } catch (error) {
    const { status, detail } = refusalIn(error);
    if (status !== 422) throw error;
    return { email: null, refused: detail };
  }
}

const fields = z.object({
  name: z.string().default(""),
  email: z.string().optional(),
  password: z.string().default(""),
});

export const action = ({ context, params: { token } }: Route.ActionArgs) =>
  sendFields(context, fields, async (json) => {
    await accepted(context.get(apiContext).auth.invitation[":token"].$post({ param: { token }, json }));
    throw redirect("/user", 303);
  });

export default function Invitation({ loaderData: { email, refused }, actionData }: Route.ComponentProps) {
  return (
    <>
      <h1>{refused ? "Invitación" : "Te han invitado"}</h1>
      {refused && <p role="alert">{refused}</p>}
      {!refused && (
        <form className="fields" method="post">
          <FormTokenField />
          <Fields id="invitacion" result={actionData}>
            {email && <p>La cuenta será de {email}.</p>}
            <NameField />
            {!email && <EmailField autoComplete="username" />}
            <NewPasswordField />
            <button type="submit" className="button primary">
              Crear cuenta
            </button>
          </Fields>
        </form>
      )}
      <p className="after">
        <a href="/auth/signin">Iniciar sesión</a>
      </p>
    </>
  );
}
