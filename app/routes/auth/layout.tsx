import { Outlet, useRouteLoaderData } from "react-router";
import type { loader as root } from "../../root.tsx";
import { Callout } from "../../ui/callout.tsx";
import { requireGuest } from "../../web/guards.server.ts";
import type { Route } from "./+types/layout";

export const middleware: Route.MiddlewareFunction[] = [requireGuest];

export const handle = { tells: true };

export default function AuthLayout() {
  const flash = useRouteLoaderData<typeof root>("root")?.flash;
  return (
    <main className="entry" id="contenido">
      {flash && (
        <div className="mt-8">
          <Callout type={flash.type}>
            <p>{flash.title}</p>
          </Callout>
        </div>
      )}
      <Outlet />
    </main>
  );
}
