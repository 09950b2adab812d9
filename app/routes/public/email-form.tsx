import { Link } from "react-router";
import { limits } from "../../process/limits.ts";
import { TextField } from "../../ui/forms/field.tsx";
import { Fields } from "../../ui/forms/fields.tsx";
import { EmailField, NameField } from "../../ui/forms/person-fields.tsx";
import { FormTokenField } from "../../ui/forms/post-form.tsx";
import type { FormResult } from "../../web/forms/form.server.ts";

type Props = {
  action: string;
  sendKey: string;
  name?: string | undefined;
  email?: string | undefined;
  result: FormResult | undefined;
};

/** The form of the contact and support pages; a plain one, as these pages have no script. */
export function EmailForm({ action, sendKey, name, email, result }: Props) {
  return (
    <form className="fields" method="post" action={action}>
      <FormTokenField />
      <input type="hidden" name="key" value={result?.values.key ?? sendKey} />
      <Fields id="carta" result={result}>
        <NameField defaultValue={name || undefined} />
        <EmailField hint="Solo para responderte." defaultValue={email || undefined} />
        <TextField name="message" label="Mensaje" required maxLength={limits.emailMessage} />
      </Fields>
      <div className="buttons">
        <button type="submit" className="button primary">
          Enviar mensaje
        </button>
      </div>
      <div className="trap" aria-hidden="true">
        <label htmlFor="web">No rellenes este campo</label>
        <input id="web" name="web" tabIndex={-1} autoComplete="off" />
      </div>
    </form>
  );
}

/** The message, as it arrived. */
export function SentEmail({ name, email, message }: { name: string; email: string; message: string }) {
  return (
    <>
      <p className="lead mt-5" role="status">
        Tu mensaje ha llegado. Te responderemos a {email}.
      </p>
      <dl className="sent">
        <dt>De</dt>
        <dd>
          {name}, {email}
        </dd>
        <dt>Mensaje</dt>
        <dd className="whitespace-pre-wrap">{message}</dd>
      </dl>
      <p className="mt-6">
        <Link to="/">Ir al inicio</Link>
      </p>
    </>
  );
}
