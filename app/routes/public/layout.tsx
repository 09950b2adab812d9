import { type ReactNode, Suspense } from "react";
import { isRouteErrorResponse, NavLink, Outlet, useLocation } from "react-router";
import { lazily } from "../../ui/lazily.ts";
import { named } from "../../ui/navigation/page-title.ts";
import { Wordmark } from "../../ui/wordmark.tsx";
import { read } from "../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../web/context.ts";
import { getHouse } from "../../web/house.server.ts";
import type { Route } from "./+types/layout";
import { pathOf } from "./paths.ts";

const ErrorPage = lazily(() => import("../../ui/error-page.tsx"));

export async function loader({ context }: Route.LoaderArgs) {
  const filter = JSON.stringify({ inMenu: true, published: true });
  const { items } = await read(context.get(apiContext).api.page.$get({ query: { filter, limit: "20" } }));
  const menu = items.map(({ slug, title }) => ({ to: pathOf(slug), title }));
  const { name, foot } = await getHouse(context);
  return { menu, name, foot, signedIn: context.get(sessionContext).signedIn };
}

export const meta: Route.MetaFunction = ({ error, matches }) =>
  error ? named(matches, "Página no encontrada") : [{ title: matches[0].loaderData.house.name }];

export default function PublicLayout({ loaderData }: Route.ComponentProps) {
  return (
    <Site {...loaderData}>
      <Outlet />
    </Site>
  );
}

/** The page for a 404, inside the frame of the public pages. Every other error has a page of its own. */
export function ErrorBoundary({ error, loaderData }: Route.ErrorBoundaryProps) {
  const { pathname, search } = useLocation();
  if (!loaderData || !isRouteErrorResponse(error) || error.status !== 404) throw error;
  return (
    <Site {...loaderData}>
      <Suspense>
        <ErrorPage error={error} path={pathname + search} framed />
      </Suspense>
    </Site>
  );
}

type SiteProps = Route.ComponentProps["loaderData"] & { children: ReactNode };

/** Head and foot of the public pages. */
function Site({ menu, name, foot, signedIn, children }: SiteProps) {
  const links = (
    <ul className="links">
      {menu.map(({ to, title }) => (
        <li key={to}>
          <NavLink to={to}>{title}</NavLink>
        </li>
      ))}
    </ul>
  );
  return (
    <>
      <header className="site leaf">
        <Wordmark />
        <nav aria-label="Principal">{links}</nav>
        <NavLink className="last" to={signedIn ? "/conversation/chat" : "/auth/signin"}>
          {signedIn ? "Ir a las conversaciones" : "Iniciar sesión"}
        </NavLink>
      </header>
      {children}
      <footer className="site-foot leaf">
        <p>{foot || name}</p>
        <nav aria-label="Pie">
          {links}
          <NavLink to="/accesibilidad">Accesibilidad</NavLink> <NavLink to="/paginas-ligeras">Páginas ligeras</NavLink>
        </nav>
      </footer>
    </>
  );
}
