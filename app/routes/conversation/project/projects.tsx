import { Link, useOutlet } from "react-router";
import { limits } from "../../../process/limits.ts";
import { DashboardPage } from "../../../ui/dashboard-page.tsx";
import { showSeen } from "../../../ui/navigation/pages-seen.ts";
import { BehindDialog } from "../../../ui/overlays/behind-dialog.tsx";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import type { Route } from "./+types/projects";

export const meta: Route.MetaFunction = () => [{ title: "Proyectos · Tertulia" }];

export async function loader({ context }: Route.LoaderArgs) {
  const { user } = await requireUser(context);
  const query = { filter: JSON.stringify({ userId: user.id }), limit: String(limits.listMax) };
  const { items } = await read(context.get(apiContext).api.project.$get({ query }));
  return { projects: items.map(({ id, name, description }) => ({ id, name, description })) };
}

export const clientLoader = (args: Route.ClientLoaderArgs) => showSeen(args);

export default function Projects({ loaderData: { projects } }: Route.ComponentProps) {
  const dialog = useOutlet();
  return (
    <BehindDialog dialog={dialog}>
      <DashboardPage width="column">
        <div className="head">
          <h1>Proyectos</h1>
          <Link className="button primary" to="/conversation/project/crear" preventScrollReset>
            Crear proyecto
          </Link>
        </div>
        {projects.length === 0 ? (
          <p className="mt-6 text-text-2">
            Un proyecto reúne conversaciones sobre lo mismo, con instrucciones que valen para todas. Aún no tienes
            ninguno.
          </p>
        ) : (
          <ul className="rows mt-6">
            {projects.map(({ id, name, description }) => (
              <li key={id} className="row">
                <div>
                  <Link className="title" to={`/conversation/project/${id}`} data-ahead>
                    {name}
                  </Link>
                  <p className="line">{description}</p>
                </div>
              </li>
            ))}
          </ul>
        )}
      </DashboardPage>
    </BehindDialog>
  );
}
