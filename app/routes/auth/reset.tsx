import { Link, redirect } from "react-router";
import { z } from "zod";
import { Fields } from "../../ui/forms/fields.tsx";
import { NewPasswordField } from "../../ui/forms/person-fields.tsx";
import { FormTokenField } from "../../ui/forms/post-form.tsx";
import { titled } from "../../ui/navigation/page-title.ts";
import { accepted, refusalIn } from "../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../web/context.ts";
import { type FormResult, sendFields } from "../../web/forms/form.server.ts";
import type { Route } from "./+types/reset";

export const meta = titled("Contraseña nueva");

export async function loader({ context, params: { token } }: Route.LoaderArgs) {
  try {
    await accepted(context.get(apiContext).auth.reset[":token"].$get({ param: { token } }));
    return { refused: null };
  } catch (error) {
    const { status, detail } = refusalIn(error);
    if (status !== 422) throw error;
    return { refused: detail };
  }
}

const fields = z.object({ password: z.string().default("") });

export const action = ({ context, params: { token } }: Route.ActionArgs) =>
  sendFields(context, fields, async (json) => {
    await accepted(context.get(apiContext).auth.reset[":token"].$put({ param: { token }, json }));
    context.get(sessionContext).flash({ type: "success", title: "Contraseña cambiada. Ya puedes entrar con ella." });
    throw redirect("/auth/signin", 303);
  });

export default function Reset({ loaderData: { refused }, actionData }: Route.ComponentProps) {
  return (
    <>
      <h1>Contraseña nueva</h1>
      {refused ? <p role="alert">{refused}</p> : <NewPassword result={actionData} />}
      <p className="after">
        <Link to="/auth/reset">Pedir otro enlace</Link>
      </p>
    </>
  );
}

function NewPassword({ result }: { result: FormResult | undefined }) {
  return (
    <form className="fields" method="post">
      <FormTokenField />
      <Fields id="nueva" result={result}>
        <NewPasswordField />
      </Fields>
      <button type="submit" className="button primary">
        Guardar contraseña
      </button>
    </form>
  );
}
