import { Outlet, useRouteLoaderData } from "react-router";
import { requireGuest } from "../../guards.server.ts";
import type { loader as root } from "../../root.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Wordmark } from "../../ui/wordmark.tsx";
import type { Route } from "./+types/layout";

export const middleware: Route.MiddlewareFunction[] = [requireGuest];

export default function AuthLayout() {
  const notice = useRouteLoaderData<typeof root>("root")?.notice;
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
