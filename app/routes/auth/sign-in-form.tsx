import type { ComponentProps, ComponentType, ReactNode } from "react";
import { Field } from "../../ui/forms/field.tsx";
import { Fields } from "../../ui/forms/fields.tsx";
import { EmailField } from "../../ui/forms/person-fields.tsx";
import { FormTokenField } from "../../ui/forms/post-form.tsx";
import { carry, isCarried } from "../../web/forms/carried-form.ts";
import type { FormResult } from "../../web/forms/form.server.ts";
import type { Entries, UnsentForm } from "../../web/forms/unsent-form.server.ts";
import { Accesses } from "./access/accesses.tsx";

export type SignInRefusal = FormResult & { ticket?: string };

type Props = {
  /** The local path to go to afterwards. */
  volver: string;
  /** A form whose session had ended: it is carried along and resumed after sign-in. */
  unsent?: Pick<UnsentForm, "fields" | "action">;
  result?: SignInRefusal | undefined;
  /** Ways to sign in while an unsent form waits on this page. Providers open in another tab. */
  entries?: Entries | undefined;
  /** In the dialog: stay on the page below. */
  stay?: boolean;
  /** E-mail of the person whose session has ended, if known. */
  email?: string | undefined;
  Form?: ComponentType<{ className: string; method: "post"; action: string; children: ReactNode }>;
};

/** The sign-in form: e-mail and password, then the code of an authenticator app where the account has one. */
export function SignInForm({ volver, unsent, result, stay, email, entries = onlyPassword, Form = PlainForm }: Props) {
  const carried = unsent ? carry(unsent) : Object.entries(result?.values ?? {}).filter(([name]) => isCarried(name));
  return (
    <Form className="fields" method="post" action={`/auth/signin${volver && `?volver=${encodeURIComponent(volver)}`}`}>
      <FormTokenField />
      {stay && <input type="hidden" name="stay" value="1" />}
      {carried.map(([name, value]) => (
        <textarea key={name} name={name} defaultValue={value} hidden readOnly aria-label={name} />
      ))}
      <Fields id="entrar" result={result}>
        {entries.accesses.length > 0 && <Apart accesses={entries.accesses} />}
        {entries.password &&
          (result?.ticket ? <CodeField ticket={result.ticket} /> : <Credentials email={email} autoFocus={stay} />)}
        {entries.password && (
          <button type="submit" className="button primary">
            Iniciar sesión
          </button>
        )}
      </Fields>
    </Form>
  );
}

const onlyPassword: Entries = { password: true, accesses: [] };

/** Signing in by a provider in another tab: the form that waits here is kept, and goes on when the person says so. */
function Apart({ accesses }: Pick<Entries, "accesses">) {
  return (
    <>
      <Accesses accesses={accesses} volver="" apart />
      <p className="hint">Se abre en otra pestaña. Cuando hayas entrado, vuelve aquí.</p>
      <button type="submit" className="button" name="entered" value="1" formNoValidate>
        Ya he entrado
      </button>
    </>
  );
}

// Sign-in needs no script; the dialog brings its own form.
function PlainForm(props: ComponentProps<"form">) {
  return <form {...props} />;
}

function Credentials({ email, autoFocus = false }: { email: string | undefined; autoFocus: boolean | undefined }) {
  const isKnown = email !== undefined;
  return (
    <>
      <EmailField autoComplete="username" autoFocus={autoFocus && !isKnown} defaultValue={email} />
      <Field
        name="password"
        label="Contraseña"
        type="password"
        autoComplete="current-password"
        required
        autoFocus={autoFocus && isKnown}
      />
    </>
  );
}

function CodeField({ ticket }: { ticket: string }) {
  return (
    <>
      <input type="hidden" name="ticket" value={ticket} />
      <Field
        name="code"
        label="Código"
        hint="El de seis cifras que muestra tu aplicación, o uno de los códigos de recuperación."
        autoComplete="one-time-code"
        required
        autoFocus
      />
    </>
  );
}
