import type { ReactNode } from "react";
import { isRouteErrorResponse, Link } from "react-router";
import { FormTokenField } from "./post-form.tsx";
import { Wordmark } from "./wordmark.tsx";

/** What a person sees when a page fails: what happened, then a way on. */
export function ErrorPage({ error, path }: { error: unknown; path: string }) {
  if (!isRouteErrorResponse(error)) return <GeneralError status={500} />;
  const { resend, message } = (error.data ?? {}) as { resend?: [string, string][]; message?: string };
  if (resend) return <Resend fields={resend} path={path} />;
  if (error.status === 404) {
    return (
      <Frame title="Aquí no hay ninguna página" said={`Page Not Found: ${path}`}>
        <p className="lead">
          Puede que la dirección tenga una errata o que la página ya no exista. Tus conversaciones siguen donde estaban.
        </p>
      </Frame>
    );
  }
  return <GeneralError status={error.status} message={message} />;
}

function GeneralError({ status, message }: { status: number; message?: string | undefined }) {
  return (
    <Frame
      title={status >= 500 ? "Algo ha fallado" : "No se ha podido hacer"}
      said={status >= 500 ? `${status} Internal Server Error` : `Error ${status}`}
    >
      <p className="lead">
        {message ??
          "No es culpa tuya, y lo que ya estaba guardado sigue guardado. Vuelve a intentarlo dentro de un momento."}
      </p>
    </Frame>
  );
}

/** A form from a page that had grown old: its text is here and goes out again with a fresh token. */
function Resend({ fields, path }: { fields: [string, string][]; path: string }) {
  const typed = fields.find(([name]) => name === "content")?.[1];
  return (
    <Frame title="La página llevaba mucho tiempo abierta">
      <p className="lead">
        Por seguridad no se ha enviado nada todavía. No se ha perdido: compruébalo y envíalo otra vez.
      </p>
      {typed && (
        <blockquote className="mt-4 max-h-60 overflow-auto whitespace-pre-wrap text-text-2">{typed}</blockquote>
      )}
      <form method="post" action={path} className="mt-6">
        <FormTokenField />
        {fields.map(([name, value]) => (
          <textarea key={name} name={name} defaultValue={value} hidden readOnly />
        ))}
        <button type="submit" className="button primary">
          Enviar otra vez
        </button>
      </form>
    </Frame>
  );
}

function Frame({ title, said, children }: { title: string; said?: string; children: ReactNode }) {
  return (
    <main className="leaf hang error-page" id="contenido">
      <p className="mb-12">
        <Wordmark />
      </p>
      <h1 className="public-title">{title}</h1>
      {children}
      {said && <p className="said-by">{said}</p>}
      <p className="mt-8 flex flex-wrap gap-x-6 gap-y-3">
        <Link to="/conversation/chat">Ir a las conversaciones</Link>
        <Link to="/">Ir al inicio</Link>
      </p>
    </main>
  );
}
