import { v7 as newId } from "uuid";
import { Callout } from "../../../ui/callout.tsx";
import { DashboardPage } from "../../../ui/dashboard-page.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { apiContext, liveContext } from "../../../web/context.ts";
import type { Route } from "./+types/diagnosis-run";
import { findDiagnosis, verdictOf, writeLines } from "./diagnosis.server.ts";

export const meta = titled("Diagnóstico");

export async function loader({ request, context, params: { run: id } }: Route.LoaderArgs) {
  const client = context.get(apiContext);
  const run = await findDiagnosis(client, id);
  const { checks } = run;
  const isDocument = !new URL(request.url).pathname.endsWith(".data");
  if (run.written.length > 0 || !isDocument) return { checks, verdict: verdictOf(run), marker: undefined };
  const marker = newId();
  context.set(liveContext, { marker, pieces: writeLines(client, id), leave: () => {} });
  return { checks, verdict: undefined, marker };
}

// The streamed lines exist only in the DOM of this document. Running the loader again would replace them.
export const shouldRevalidate = () => false;

export default function DiagnosisRun({ loaderData: { checks, verdict, marker } }: Route.ComponentProps) {
  return (
    <DashboardPage width="document" up={["/admin/sistema/diagnostico", "Diagnóstico"]}>
      <h1>Diagnóstico</h1>
      <h2 className="mt-5">Cabeceras</h2>
      <ul className="mt-4 grid gap-2">
        {checks.map(({ good, text }) => (
          <li key={text}>
            <Callout type={good ? "success" : "warning"}>
              <p>{text}</p>
            </Callout>
          </li>
        ))}
      </ul>
      <h2 className="mt-7">Páginas que crecen</h2>
      {marker === undefined ? (
        <div className="mt-4">
          <Callout type={verdict?.good ? "success" : "warning"}>
            <p>{verdict?.text}</p>
          </Callout>
        </div>
      ) : (
        <div
          className="mt-4"
          suppressHydrationWarning
          // Safe: the server makes both the marker and the HTML in its place.
          dangerouslySetInnerHTML={{ __html: marker }}
        />
      )}
    </DashboardPage>
  );
}
