import { Notice } from "../../ui/notice.tsx";
import { Wordmark } from "../../ui/wordmark.tsx";
import { SignInForm } from "./sign-in-form.tsx";

/** Shown in place of the answer to a form whose session had ended: its text waits behind the sign-in. */
export default function SignInAgain({
  held = {},
  volver = "/conversation/chat",
}: {
  held?: Record<string, string>;
  volver?: string;
}) {
  return (
    <main className="entry" id="contenido">
      <Wordmark />
      <h1>Iniciar sesión</h1>
      <div className="mb-6">
        <Notice type="warning">
          <p>Session expirada, por favor inicia sesión nuevamente.</p>
          {Object.entries(held).some(([name, value]) => name !== "action" && value) && (
            <p className="text-text-2">Lo que has escrito te espera al otro lado.</p>
          )}
        </Notice>
      </div>
      <SignInForm volver={volver} held={held} />
    </main>
  );
}
