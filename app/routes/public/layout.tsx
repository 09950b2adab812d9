import { NavLink, Outlet } from "react-router";
import { Wordmark } from "../../ui/wordmark.tsx";
import { read } from "../../web/api-result.server.ts";
import { apiContext, sessionContext } from "../../web/context.ts";
import type { Route } from "./+types/layout";
import { pathOf } from "./paths.ts";

export async function loader({ context }: Route.LoaderArgs) {
  const filter = JSON.stringify({ inMenu: true, published: true });
  const { items } = await read(context.get(apiContext).api.page.$get({ query: { filter, limit: "20" } }));
  const menu = items.map(({ slug, title }) => ({ to: pathOf(slug), title }));
  return { menu, signedIn: context.get(sessionContext).signedIn };
}

export default function PublicLayout({ loaderData: { menu, signedIn } }: Route.ComponentProps) {
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
      <Outlet />
      <footer className="site-foot leaf">
        <p>Tertulia</p>
        <nav aria-label="Pie">
          {links}
          <NavLink to="/accesibilidad">Accesibilidad</NavLink> <NavLink to="/paginas-ligeras">Páginas ligeras</NavLink>
        </nav>
      </footer>
    </>
  );
}
