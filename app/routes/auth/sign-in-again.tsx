import { Callout } from "../../ui/callout.tsx";
import { Wordmark } from "../../ui/wordmark.tsx";
import type { UnsentForm } from "../../web/forms/unsent-form.server.ts";
import { SignInForm } from "./sign-in-form.tsx";

/** Shown instead of the response to a form whose session had ended. The form is carried through sign-in. */
export default function SignInAgain(unsent: UnsentForm) {
  return (
    <main className="entry" id="contenido">
      <Wordmark />
      <h1>Iniciar sesión</h1>
      <div className="mb-6">
        <Callout type="warning">
          <p>Session expirada, por favor inicia sesión nuevamente.</p>
          {unsent.fields.some(([, value]) => value) && (
            <p className="text-text-2">Lo que has escrito te espera al otro lado.</p>
          )}
        </Callout>
      </div>
      <SignInForm volver="" unsent={unsent} entries={unsent.entries} />
    </main>
  );
}
