import { Link, redirect, useSearchParams } from "react-router";
import { accepted } from "../../answers.server.ts";
import { apiContext, formContext } from "../../context.ts";
import { formProblem, textOf } from "../../form.server.ts";
import { safeReturn } from "../../guards.server.ts";
import { limits } from "../../limits.ts";
import { Field } from "../../ui/field.tsx";
import { Notice } from "../../ui/notice.tsx";
import { FormTokenField } from "../../ui/post-form.tsx";
import type { Route } from "./+types/signup";

export const meta: Route.MetaFunction = () => [{ title: "Crear cuenta · Tertulia" }];

export async function action({ context, url }: Route.ActionArgs) {
  const form = context.get(formContext);
  const [name, email, password] = ["name", "email", "password"].map((field) => textOf(form, field));
  try {
    await accepted(context.get(apiContext).auth.signup.$post({ json: { name, email, password } as never }));
  } catch (error) {
    return formProblem(error, form, ["name", "email"]);
  }
  throw redirect(safeReturn(url.searchParams.get("volver")));
}

export default function SignUp({ actionData }: Route.ComponentProps) {
  const [search] = useSearchParams();
  const volver = search.get("volver");
  const query = volver ? `?volver=${encodeURIComponent(volver)}` : "";
  const { values, errors = {}, message } = actionData ?? {};
  return (
    <>
      <h1>Crear cuenta</h1>
      <form className="fields" method="post" action={`/auth/signup${query}`}>
        <FormTokenField />
        {message && (
          <Notice type="error">
            <p>{message}</p>
          </Notice>
        )}
        <Field
          name="name"
          label="Nombre"
          autoComplete="name"
          required
          maxLength={limits.name}
          defaultValue={values?.name}
          error={errors.name}
        />
        <Field
          name="email"
          label="Correo electrónico"
          type="email"
          autoComplete="username"
          required
          maxLength={limits.email}
          defaultValue={values?.email}
          error={errors.email}
        />
        <Field
          name="password"
          label="Contraseña"
          hint={`${limits.passwordMin} caracteres o más. Mejor una frase que una palabra.`}
          type="password"
          autoComplete="new-password"
          required
          minLength={limits.passwordMin}
          maxLength={limits.passwordMax}
          error={errors.password}
        />
        <button type="submit" className="button primary">
          Crear cuenta
        </button>
      </form>
      <p className="after">
        ¿Ya tienes cuenta? <Link to={`/auth/signin${query}`}>Iniciar sesión</Link>
      </p>
    </>
  );
}
