import { Link, redirect } from "react-router";
import { z } from "zod";
import { accepted } from "../../answers.server.ts";
import { apiContext, sessionContext } from "../../context.ts";
import { sendFields } from "../../form.server.ts";
import { limits } from "../../limits.ts";
import { Field } from "../../ui/field.tsx";
import { Fields } from "../../ui/fields.tsx";
import { FormTokenField } from "../../ui/post-form.tsx";
import type { Route } from "./+types/reset";

export const meta: Route.MetaFunction = () => [{ title: "Contraseña nueva · Tertulia" }];

const fields = z.object({ password: z.string().default("") });

export const action = ({ context, params: { token } }: Route.ActionArgs) =>
  sendFields(context, fields, async (json) => {
    await accepted(context.get(apiContext).auth.reset[":token"].$put({ param: { token }, json }));
    context.get(sessionContext).flash({ type: "success", title: "Contraseña cambiada. Ya puedes entrar con ella." });
    throw redirect("/auth/signin", 303);
  });

export default function Reset({ actionData }: Route.ComponentProps) {
  return (
    <>
      <h1>Contraseña nueva</h1>
      <form className="fields" method="post">
        <FormTokenField />
        <Fields id="nueva" result={actionData}>
          <Field
            name="password"
            label="Contraseña"
            hint={`${limits.passwordMin} caracteres o más. Mejor una frase que una palabra.`}
            type="password"
            autoComplete="new-password"
            required
            minLength={limits.passwordMin}
            maxLength={limits.passwordMax}
          />
        </Fields>
        <button type="submit" className="button primary">
          Guardar contraseña
        </button>
      </form>
      <p className="after">
        <Link to="/auth/reset">Pedir otro enlace</Link>
      </p>
    </>
  );
}
