import type { FormResult } from "../../form.server.ts";
import { Field } from "../../ui/field.tsx";
import { Notice } from "../../ui/notice.tsx";
import { FormTokenField } from "../../ui/post-form.tsx";

type Props = {
  volver: string;
  /** Fields of a form that found its session ended; they go along and come back after sign-in. */
  held: Record<string, string>;
  result?: FormResult | undefined;
};

/** The sign-in form; a plain form, as nothing here needs a script. */
export function SignInForm({ volver, held, result }: Props) {
  return (
    <form className="fields" method="post" action={`/auth/signin?volver=${encodeURIComponent(volver)}`}>
      <FormTokenField />
      {result?.message && (
        <Notice type="error">
          <p>{result.message}</p>
        </Notice>
      )}
      {Object.entries(held).map(([name, value]) => (
        <textarea key={name} name={`held.${name}`} defaultValue={value} hidden readOnly />
      ))}
      <Field
        name="email"
        label="Correo electrónico"
        type="email"
        autoComplete="username"
        required
        defaultValue={result?.values.email}
        error={result?.errors.email}
      />
      <Field
        name="password"
        label="Contraseña"
        type="password"
        autoComplete="current-password"
        required
        error={result?.errors.password}
      />
      <button type="submit" className="button primary">
        Iniciar sesión
      </button>
    </form>
  );
}
