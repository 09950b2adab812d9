import type { UnsentForm } from "../../web/forms/unsent-form.server.ts";
import { FormTokenField } from "./post-form.tsx";

// Fields that were not typed by the person and are not shown.
const identifiers = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}(,[\da-f-]{36})*$/i;

/** Shows a refused form with its values and sends it again with the current form token. */
export default function Resend({ fields, action, why }: Pick<UnsentForm, "fields" | "action"> & { why?: string }) {
  const typed = fields.filter(([, value]) => value.trim() !== "" && !identifiers.test(value));
  return (
    <>
      <h1 className="public-title">{why ?? "Ya estás dentro"}</h1>
      {typed.length === 0 ? (
        <>
          <p className="lead mt-4">Por seguridad no se ha enviado nada. Vuelve al formulario y rellénalo otra vez.</p>
          <p className="mt-6">
            <a className="button primary" href={action}>
              Volver al formulario
            </a>
          </p>
        </>
      ) : (
        <>
          <p className="lead mt-4">
            No se ha enviado nada todavía, y nada se ha perdido: compruébalo y envíalo otra vez.
          </p>
          {typed.map(([name, value]) => (
            <blockquote key={name} className="mt-4 max-h-60 overflow-auto whitespace-pre-wrap text-text-2">
              {value}
            </blockquote>
          ))}
          <form method="post" action={action} className="mt-6">
            <FormTokenField />
            {fields.map(([name, value]) => (
              <textarea key={name} name={name} defaultValue={value} hidden readOnly aria-label={name} />
            ))}
            <button type="submit" className="button primary">
              Enviar otra vez
            </button>
          </form>
        </>
      )}
    </>
  );
}
