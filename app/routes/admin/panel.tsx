import { Link } from "react-router";
import { read } from "../../answers.server.ts";
import { Bar } from "../../ui/bar.tsx";
import type { Route } from "./+types/panel";
import { resourceOf } from "./resource.server.ts";
import { resources } from "./resources.server.ts";

export const meta: Route.MetaFunction = () => [{ title: "Administración · Tertulia" }];

export async function loader({ context }: Route.LoaderArgs) {
  const counted = await Promise.all(
    resources.map(async ({ path, many }) => {
      const { total } = await read(resourceOf(context, path).api.$get({ query: { limit: "1" } }));
      return { path, many, total: total.toLocaleString("es") };
    }),
  );
  return { counted };
}

export default function Panel({ loaderData: { counted } }: Route.ComponentProps) {
  return (
    <>
      <Bar>
        <span className="flex-1" />
      </Bar>
      <main className="page" id="contenido">
        <div className="in">
          <h1>Administración</h1>
          <ul className="counts">
            {counted.map(({ path, many, total }) => (
              <li key={path}>
                <Link to={`/admin/${path}`}>{many}</Link> <strong>{total}</strong>
              </li>
            ))}
          </ul>
        </div>
      </main>
    </>
  );
}
