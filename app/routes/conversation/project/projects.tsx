import { Link } from "react-router";
import { limits } from "../../../process/limits.ts";
import { titled } from "../../../ui/navigation/page-title.ts";
import { showSeen } from "../../../ui/navigation/pages-seen.ts";
import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { requireUser } from "../../../web/current-user.server.ts";
import { OwnList } from "../own-list.tsx";
import type { Route } from "./+types/projects";

export const meta = titled("Proyectos");

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
  // Projects of other people stand behind the last of the person's own.
  const others = nextCursor ? [] : aside.projects.filter((project) => !project.own);
  const lent = others.map(({ id, name }) => ({ id, name, description: "De otra persona" }));
  return { projects: [...own, ...lent], next: nextCursor && `?${new URLSearchParams({ cursor: nextCursor })}` };
}

export const clientLoader = (args: Route.ClientLoaderArgs) => showSeen(args);

export default function Projects({ loaderData: { projects, next } }: Route.ComponentProps) {
  return (
    <OwnList
      title="Proyectos"
      create={["/conversation/project/crear", "Crear proyecto"]}
      empty="Un proyecto reúne conversaciones sobre lo mismo, con instrucciones que valen para todas. Aún no tienes ninguno."
      rows={projects.map(({ id, name, description }) => (
        <li key={id} className="row">
          <div>
            <Link className="title" to={`/conversation/project/${id}`} data-ahead>
              {name}
            </Link>
            <p className="line">{description}</p>
          </div>
        </li>
      ))}
    >
      {next && (
        <p className="mt-4">
          <Link to={next}>Siguiente</Link>
        </p>
      )}
    </OwnList>
  );
}
