import { type ReactNode, Suspense, useContext } from "react";
import { isRouteErrorResponse, Link } from "react-router";
import { RequestReference } from "../process/telemetry/request-reference.ts";
import type { UnsentForm } from "../web/forms/unsent-form.server.ts";
import { lazily } from "./lazily.ts";
import { Wordmark } from "./wordmark.tsx";

// Loaded lazily: rarely needed with script, which resends by itself.
const Resend = lazily(() => import("./forms/resend.tsx"));

/** The error page: what happened, then where to go. `framed`: it stands between the head and the foot of the public pages. */
export default function ErrorPage({ error, path, framed }: { error: unknown; path: string; framed?: boolean }) {
  if (!isRouteErrorResponse(error)) return <GeneralError status={500} path={path} />;
  const { fields, action = path, message }: Partial<UnsentForm> = error.data ?? {};
  if (fields) {
    return (
      <Frame>
        <Suspense>
          <Resend fields={fields} action={action} why={message ?? "La página llevaba mucho tiempo abierta"} />
        </Suspense>
      </Frame>
    );
  }
  if (error.status === 404) {
    return (
      <Frame title="Aquí no hay ninguna página" framed={framed} said={`Page Not Found: ${readable(path)}`}>
        <p className="lead">
          Puede que la dirección tenga una errata o que la página ya no exista. Lo demás sigue donde estaba.
        </p>
      </Frame>
    );
  }
  return <GeneralError status={error.status} message={message} path={path} />;
}

/** The path in readable form, without the query. */
function readable(path: string): string {
  const [pathname = ""] = path.split("?");
  try {
    return decodeURI(pathname);
  } catch {
    // The path is not valid UTF-8.
    return pathname;
  }
}

const names: Record<number, string> = { 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout" };

function GeneralError({ status, message, path }: { status: number; message?: string | undefined; path: string }) {
  return (
    <Frame
      title={status >= 500 ? "Algo ha fallado" : "No se ha podido hacer"}
      said={status >= 500 ? `${status} ${names[status] ?? "Internal Server Error"}` : `Error ${status}`}
    >
      <p className="lead">
        {message ??
          "No es culpa tuya, y lo que ya estaba guardado sigue guardado. Vuelve a intentarlo dentro de un momento."}
      </p>
      {status >= 500 && (
        <p className="mt-6">
          <a href={path}>Volver a intentarlo</a>
        </p>
      )}
      {status >= 500 && <Reference />}
    </Frame>
  );
}

/** The reference by which an administrator finds the failure in the log. A page that the browser has rendered itself has none. */
function Reference() {
  const reference = useContext(RequestReference);
  return (
    // The browser keeps what the server has written.
    <p className="said-by" suppressHydrationWarning>
      {`Referencia para quien administra: ${reference || "no la hay"}`}
    </p>
  );
}

type FrameProps = { title?: string; said?: string; framed?: boolean | undefined; children: ReactNode };

function Frame({ title, said, framed, children }: FrameProps) {
  return (
    <main className="leaf hang error-page" id="contenido">
      {!framed && (
        <p className="mb-12">
          <Wordmark />
        </p>
      )}
      {title && <h1 className="public-title">{title}</h1>}
      {children}
      {said && <p className="said-by">{said}</p>}
      <p className="mt-8 flex flex-wrap gap-x-6 gap-y-3">
        <Link to="/conversation/chat">Ir a las conversaciones</Link>
        <Link to="/">Ir al inicio</Link>
      </p>
    </main>
  );
}
