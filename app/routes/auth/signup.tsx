import { Link, redirect, useSearchParams } from "react-router";
import { z } from "zod";
import { Fields } from "../../ui/forms/fields.tsx";
import { EmailField, NameField, NewPasswordField } from "../../ui/forms/person-fields.tsx";
import { FormTokenField } from "../../ui/forms/post-form.tsx";
import { accepted, read } from "../../web/api-result.server.ts";
import { apiContext } from "../../web/context.ts";
import { sendFields } from "../../web/forms/form.server.ts";
import { safeReturn } from "../../web/safe-return.server.ts";
import type { Route } from "./+types/signup";

export const meta: Route.MetaFunction = () => [{ title: "Crear cuenta · Tertulia" }];

export const loader = ({ context }: Route.LoaderArgs) => read(context.get(apiContext).auth.options.$get());

const fields = z.object({
  name: z.string().default(""),
  email: z.string().default(""),
  password: z.string().default(""),
});

export const action = ({ context, url }: Route.ActionArgs) =>
  sendFields(context, fields, async (json) => {
    await accepted(context.get(apiContext).auth.signup.$post({ json }));
    throw redirect(safeReturn(url.searchParams.get("volver")));
  });

export default function SignUp({ loaderData: { signup }, actionData }: Route.ComponentProps) {
  const [search] = useSearchParams();
  const volver = search.get("volver");
  const query = volver ? `?volver=${encodeURIComponent(volver)}` : "";
  if (!signup) return <Closed query={query} />;
  return (
    <>
      <h1>Crear cuenta</h1>
      <form className="fields" method="post" action={`/auth/signup${query}`}>
        <FormTokenField />
        <Fields id="cuenta" result={actionData}>
          <NameField />
          <EmailField autoComplete="username" />
          <NewPasswordField />
          <button type="submit" className="button primary">
            Crear cuenta
          </button>
        </Fields>
      </form>
      <p className="after">
        ¿Ya tienes cuenta? <Link to={`/auth/signin${query}`}>Iniciar sesión</Link>
      </p>
    </>
  );
}

function Closed({ query }: { query: string }) {
  return (
    <>
      <h1>El registro está cerrado</h1>
      <p className="mb-6">Pide una cuenta a quien administra esta instalación.</p>
      <p className="after">
        ¿Ya tienes cuenta? <Link to={`/auth/signin${query}`}>Iniciar sesión</Link>
      </p>
    </>
  );
}
