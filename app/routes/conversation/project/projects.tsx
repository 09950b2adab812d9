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

export async function loader({ context, url }: Route.LoaderArgs) {
  const { user } = await requireUser(context);
  const cursor = url.searchParams.get("cursor");
  const filter = JSON.stringify({ userId: user.id });
  const query = { filter, limit: String(limits.listMax), ...(cursor && { cursor }) };
  const { api } = context.get(apiContext);
  const [{ items, nextCursor }, { aside }] = await Promise.all([
    read(api.project.$get({ query })),
    read(api.dashboard.initialize.$get()),
  ]);
  const own = items.map(({ id, name, description }) => ({ id, name, description }));
  // Those of others stand behind the last of one's own.
  const others = nextCursor ? [] : aside.projects.filter((project) => !project.own);
  const lent = others.map(({ id, name }) => ({ id, name, description: "De otra persona" }));
  return { projects: [...own, ...lent], next: nextCursor && `?${new URLSearchParams({ cursor: nextCursor })}` };
}

export const clientLoader = (args: Route.ClientLoaderArgs) => showSeen(args);

export default function Projects({ loaderData: { projects, next } }: Route.ComponentProps) {
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
        {next && (
          <p className="mt-4">
            <Link to={next}>Siguiente</Link>
          </p>
        )}
      </DashboardPage>
    </BehindDialog>
  );
}
