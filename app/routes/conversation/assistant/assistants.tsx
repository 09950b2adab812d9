import { Link, useOutlet } from "react-router";
import { limits } from "../../../process/limits.ts";
import { DashboardPage } from "../../../ui/dashboard-page.tsx";
import { showSeen } from "../../../ui/navigation/pages-seen.ts";
import { BehindDialog } from "../../../ui/overlays/behind-dialog.tsx";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import type { Route } from "./+types/assistants";

export const meta: Route.MetaFunction = () => [{ title: "Asistentes · Tertulia" }];

export async function loader({ context }: Route.LoaderArgs) {
  const { items } = await read(
    context.get(apiContext).api.assistant.$get({ query: { limit: String(limits.listMax) } }),
  );
  return {
    assistants: items.map(({ id, name, purpose, shared, mayChange }) => ({ id, name, purpose, shared, mayChange })),
  };
}

export const clientLoader = (args: Route.ClientLoaderArgs) => showSeen(args);

export default function Assistants({ loaderData: { assistants } }: Route.ComponentProps) {
  const dialog = useOutlet();
  return (
    <BehindDialog dialog={dialog}>
      <DashboardPage width="column">
        <div className="head">
          <h1>Asistentes</h1>
          <Link className="button primary" to="/conversation/assistant/crear" preventScrollReset>
            Crear asistente
          </Link>
        </div>
        {assistants.length === 0 ? (
          <p className="mt-6 text-text-2">
            Un asistente es un modelo con instrucciones, documentos y herramientas para una cosa concreta. Aún no hay
            ninguno.
          </p>
        ) : (
          <ul className="rows mt-6">
            {assistants.map(({ id, name, purpose, shared, mayChange }) => (
              <li key={id} className="row">
                <div>
                  <Link className="title" to={`/conversation/chat?asistente=${id}`}>
                    {name}
                  </Link>
                  <p className="line">{[shared && "De todos.", purpose].filter(Boolean).join(" ")}</p>
                </div>
                {mayChange && (
                  <span className="end">
                    <Link className="action" to={`/conversation/assistant/${id}/editar`} preventScrollReset>
                      Editar<span className="sr-only"> {name}</span>
                    </Link>{" "}
                    <Link className="action" to={`/conversation/assistant/${id}/eliminar`} preventScrollReset>
                      Eliminar<span className="sr-only"> {name}</span>
                    </Link>
                  </span>
                )}
              </li>
            ))}
          </ul>
        )}
      </DashboardPage>
    </BehindDialog>
  );
}
