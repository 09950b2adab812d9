import { Outlet } from "react-router";
import { sessionContext } from "../../context.ts";
import { requireGuest } from "../../guards.server.ts";
import { Notice } from "../../ui/notice.tsx";
import { Wordmark } from "../../ui/wordmark.tsx";
import type { Route } from "./+types/layout";

export const middleware: Route.MiddlewareFunction[] = [requireGuest];

export function loader({ context }: Route.LoaderArgs) {
  return { notice: context.get(sessionContext).takeNotice() };
}

export default function AuthLayout({ loaderData: { notice } }: Route.ComponentProps) {
  return (
    <main className="entry" id="contenido">
      <Wordmark />
      {notice && (
        <div className="mt-8">
          <Notice type={notice.type}>
            <p>{notice.title}</p>
          </Notice>
        </div>
      )}
      <Outlet />
    </main>
  );
}
