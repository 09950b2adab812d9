import type { ComponentProps, ComponentType, ReactNode } from "react";
import type { FormResult } from "../../form.server.ts";
import { Field } from "../../ui/field.tsx";
import { Fields } from "../../ui/fields.tsx";
import { FormTokenField } from "../../ui/post-form.tsx";

export type SignInRefusal = FormResult & { ticket?: string };

type Props = {
  volver: string;
  /** Fields of a form that found its session ended; they go along and come back after sign-in. */
  held: Record<string, string>;
  result?: SignInRefusal | undefined;
  /** Stay on the page on which the form is. */
  stay?: boolean;
  Form?: ComponentType<{ className: string; method: "post"; action: string; children: ReactNode }>;
};

/** The sign-in form: e-mail and password, then the code of an authenticator app where the account has one. */
export function SignInForm({ volver, held, result, stay, Form = PlainForm }: Props) {
  return (
    <Form className="fields" method="post" action={`/auth/signin${volver && `?volver=${encodeURIComponent(volver)}`}`}>
      <FormTokenField />
      {stay && <input type="hidden" name="stay" value="1" />}
      {Object.entries(held).map(([name, value]) => (
        <textarea key={name} name={`held.${name}`} defaultValue={value} hidden readOnly aria-label={name} />
      ))}
      <Fields id="entrar" result={result}>
        {result?.ticket ? <CodeField ticket={result.ticket} /> : <Credentials autoFocus={stay} />}
        <button type="submit" className="button primary">
          Iniciar sesión
        </button>
      </Fields>
    </Form>
  );
}

// Sign-in needs no script; the dialog brings its own form.
function PlainForm(props: ComponentProps<"form">) {
  return <form {...props} />;
}

function Credentials({ autoFocus }: { autoFocus: boolean | undefined }) {
  return (
    <>
      <Field
        name="email"
        label="Correo electrónico"
        type="email"
        autoComplete="username"
        required
        autoFocus={autoFocus}
      />
      <Field name="password" label="Contraseña" type="password" autoComplete="current-password" required />
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
        inputMode="numeric"
        autoComplete="one-time-code"
        required
        autoFocus
      />
    </>
  );
}
