import { Link, Outlet } from "react-router";
import { sessionContext } from "../../context.ts";
import { Wordmark } from "../../ui/wordmark.tsx";
import type { Route } from "./+types/layout";

export function loader({ context }: Route.LoaderArgs) {
  return { signedIn: context.get(sessionContext).signedIn };
}

export default function PublicLayout({ loaderData: { signedIn } }: Route.ComponentProps) {
  return (
    <>
      <header className="site leaf">
        <Wordmark />
        <Link className="last col-start-3" to={signedIn ? "/conversation/chat" : "/auth/signin"}>
          {signedIn ? "Ir a las conversaciones" : "Iniciar sesión"}
        </Link>
      </header>
      <Outlet />
      <footer className="site-foot leaf">
        <p>Tertulia</p>
      </footer>
    </>
  );
}
