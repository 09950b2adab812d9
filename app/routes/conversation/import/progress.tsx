import { Link } from "react-router";
import { Callout } from "../../../ui/callout.tsx";
import { DashboardPage } from "../../../ui/dashboard-page.tsx";
import { titled } from "../../../ui/navigation/page-title.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import type { Route } from "./+types/progress";
import { outcomeInWords, readOutcome } from "./outcome.ts";

export const meta = titled("Importación");

/** How far a long import has come. A script is told of each step; without one, a link loads the page again. */
export async function loader({ context, params: { id } }: Route.LoaderArgs) {
  const { state, done, total, problem, result } = await read(
    context.get(apiContext).api.job[":id"].$get({ param: { id } }),
  );
  const outcome = readOutcome(result);
  return {
    failed: state === "failed" ? problem : null,
    done: done ?? 0,
    total,
    outcome: outcome && outcomeInWords(outcome),
  };
}

export default function ImportProgress({ loaderData }: Route.ComponentProps) {
  const { failed, done, total, outcome } = loaderData;
  return (
    <DashboardPage width="document" up={["/conversation/chat", "Conversaciones"]}>
      <h1>Importación</h1>
      {outcome ? (
        <>
          <Callout type="success">
            <p>{outcome[0]}</p>
            {outcome[1] && <p>{outcome[1]}</p>}
          </Callout>
          <p className="mt-4">
            <Link className="button primary" to="/conversation/chat">
              Ver las conversaciones
            </Link>
          </p>
        </>
      ) : failed !== null ? (
        <>
          <Callout type="error">
            <p>No se ha podido importar todo: {failed}</p>
          </Callout>
          <p className="mt-4">
            <Link className="button" to="/conversation/chat/importar">
              Volver a intentarlo
            </Link>
          </p>
        </>
      ) : (
        <>
          <p role="status">
            {total === null
              ? "Se está leyendo el archivo."
              : `Van ${done.toLocaleString("es")} de ${total.toLocaleString("es")} conversaciones.`}{" "}
            Puedes cerrar esta página: se sigue importando.
          </p>
          <progress
            className="advance mt-4"
            value={total === null ? undefined : done}
            max={total ?? 1}
            aria-label="Importación"
          />
          <p className="mt-4">
            <Link className="button" to=".">
              Ver cómo va
            </Link>
          </p>
        </>
      )}
    </DashboardPage>
  );
}
