import { Link, useOutlet } from "react-router";
import { limits } from "../../../process/limits.ts";
import { cutText } from "../../../process/text/cut-text.ts";
import { DashboardPage } from "../../../ui/dashboard-page.tsx";
import { showSeen } from "../../../ui/navigation/pages-seen.ts";
import { BehindDialog } from "../../../ui/overlays/behind-dialog.tsx";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import type { Route } from "./+types/templates";

export const meta: Route.MetaFunction = () => [{ title: "Plantillas · Tertulia" }];

const extract = 160;

export async function loader({ context }: Route.LoaderArgs) {
  const { items } = await read(context.get(apiContext).api.template.$get({ query: { limit: String(limits.listMax) } }));
  return {
    templates: items.map(({ id, title, content, shared, mayChange }) => ({
      id,
      title,
      begins: `${shared ? "De todos. " : ""}${cutText(content, extract)}`,
      mayChange,
    })),
  };
}

export const clientLoader = (args: Route.ClientLoaderArgs) => showSeen(args);

export default function Templates({ loaderData: { templates } }: Route.ComponentProps) {
  const dialog = useOutlet();
  return (
    <BehindDialog dialog={dialog}>
      <DashboardPage width="column">
        <div className="head">
          <h1>Plantillas</h1>
          <Link className="button primary" to="/conversation/template/crear" preventScrollReset>
            Crear plantilla
          </Link>
        </div>
        {templates.length === 0 ? (
          <p className="mt-6 text-text-2">
            Una plantilla es un mensaje que escribes a menudo, con huecos como <code>{"{{ciudad}}"}</code> que se
            rellenan cada vez. Aún no hay ninguna.
          </p>
        ) : (
          <ul className="rows mt-6">
            {templates.map(({ id, title, begins, mayChange }) => (
              <li key={id} className="row">
                <div>
                  <Link className="title" to={`/conversation/chat?plantilla=${id}`}>
                    {title}
                  </Link>
                  <p className="line">{begins}</p>
                </div>
                {mayChange && (
                  <span className="end">
                    <Link className="action" to={`/conversation/template/${id}/editar`} preventScrollReset>
                      Editar<span className="sr-only"> {title}</span>
                    </Link>{" "}
                    <Link className="action" to={`/conversation/template/${id}/eliminar`} preventScrollReset>
                      Eliminar<span className="sr-only"> {title}</span>
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
