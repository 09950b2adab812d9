import { data, Link } from "react-router";
import { v7 as newId } from "uuid";
import { liveContext } from "../../context.ts";
import { Bar } from "../../ui/bar.tsx";
import { Notice } from "../../ui/notice.tsx";
import type { Route } from "./+types/diagnosis-run";
import { findDiagnosis, verdictOf, writeLines } from "./diagnosis.server.ts";

export const meta: Route.MetaFunction = () => [{ title: "Diagnóstico · Tertulia" }];

export function loader({ request, context, params: { run: id } }: Route.LoaderArgs) {
  const run = findDiagnosis(id);
  if (!run) throw data(null, 404);
  const { checks } = run;
  const isDocument = !new URL(request.url).pathname.endsWith(".data");
  if (run.written.length > 0 || !isDocument) return { checks, verdict: verdictOf(run), marker: undefined };
  const marker = newId();
  context.set(liveContext, { marker, pieces: writeLines(id, run), leave: () => {} });
  return { checks, verdict: undefined, marker };
}

// What has been written stays in the page; only a document brings it.
export const shouldRevalidate = () => false;

export default function DiagnosisRun({ loaderData: { checks, verdict, marker } }: Route.ComponentProps) {
  return (
    <>
      <Bar>
        <p className="where">
          <Link to="/admin/sistema/diagnostico">Diagnóstico</Link>
        </p>
      </Bar>
      <main className="page" id="contenido">
        <div className="in document">
          <h1>Diagnóstico</h1>
          <h2 className="mt-5">Cabeceras</h2>
          <ul className="mt-4 grid gap-2">
            {checks.map(({ good, text }) => (
              <li key={text}>
                <Notice type={good ? "success" : "warning"}>
                  <p>{text}</p>
                </Notice>
              </li>
            ))}
          </ul>
          <h2 className="mt-7">Páginas que crecen</h2>
          {marker === undefined ? (
            <div className="mt-4">
              <Notice type={verdict?.good ? "success" : "warning"}>
                <p>{verdict?.text}</p>
              </Notice>
            </div>
          ) : (
            <div
              className="mt-4"
              suppressHydrationWarning
              // Safe: the marker is the server's, and so is what it writes there.
              dangerouslySetInnerHTML={{ __html: marker }}
            />
          )}
        </div>
      </main>
    </>
  );
}
