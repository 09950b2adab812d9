import { Field } from "../../../ui/forms/field.tsx";
import { Fields } from "../../../ui/forms/fields.tsx";
import { FormTokenField } from "../../../ui/forms/post-form.tsx";
import type { FormResult } from "../../../web/forms/form.server.ts";

/** An account that is there already, and the identity that is to be joined to it; the ticket is the API's. */
export type JoinTicket = { ticket: string; email: string; needsCode: boolean };
type Props = { joining: JoinTicket & { accessId: string; volver: string }; result?: FormResult | undefined };

/** Asks once for the password of an account whose address a provider has brought. */
export function JoinForm({ joining, result }: Props) {
  const { ticket, email, needsCode, accessId, volver } = joining;
  const carried = { joining: ticket, email, needsCode: needsCode ? "1" : "", accessId, volver };
  return (
    <>
      <h1>Ya tienes cuenta</h1>
      <p className="mb-6">
        Hay una cuenta con el correo {email}. Escribe su contraseña una vez, y desde ahora entrarás en ella también así.
      </p>
      <form className="fields" method="post" action="/auth/oidc/callback">
        <FormTokenField />
        {Object.entries(carried).map(([name, value]) => (
          <input key={name} type="hidden" name={name} value={value} />
        ))}
        <Fields id="unir" result={result}>
          <Field
            name="password"
            label="Contraseña"
            type="password"
            autoComplete="current-password"
            required
            autoFocus
          />
          {needsCode && (
            <Field
              name="code"
              label="Código"
              hint="El de seis cifras que muestra tu aplicación, o uno de los códigos de recuperación."
              autoComplete="one-time-code"
              required
            />
          )}
          <button type="submit" className="button primary">
            Unir y entrar
          </button>
        </Fields>
      </form>
      <p className="after">
        <a href="/auth/signin">Entrar de otra manera</a>
      </p>
    </>
  );
}
