import { Link, redirect, useSearchParams } from "react-router";
import { z } from "zod";
import { Fields } from "../../ui/forms/fields.tsx";
import { EmailField, NameField, NewPasswordField } from "../../ui/forms/person-fields.tsx";
import { FormTokenField } from "../../ui/forms/post-form.tsx";
import { titled } from "../../ui/navigation/page-title.ts";
import { accepted, read } from "../../web/api-result.server.ts";
import { apiContext } from "../../web/context.ts";
import { sendFields } from "../../web/forms/form.server.ts";
import { getHouse } from "../../web/house.server.ts";
import { safeReturn } from "../../web/safe-return.server.ts";
import type { Route } from "./+types/signup";

export const meta = titled("Crear cuenta");

export async function loader({ context }: Route.LoaderArgs) {
  const { signup } = await read(context.get(apiContext).auth.options.$get());
  const { signupDomains: domains } = await getHouse(context);
  return { signup, emailHint: domains.length > 0 ? `Uno de ${domains.join(" o ")}.` : undefined };
}

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

export default function SignUp({ loaderData: { signup, emailHint }, actionData }: Route.ComponentProps) {
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
          <EmailField autoComplete="username" hint={emailHint} />
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
