import { Outlet } from "react-router";
import { read } from "../../answers.server.ts";
import { apiContext, sessionContext } from "../../context.ts";
import { currentPerson, requireAuth } from "../../guards.server.ts";
import { Notice } from "../../ui/notice.tsx";
import type { Route } from "./+types/layout";
import { Sidebar } from "./sidebar.tsx";

export const middleware: Route.MiddlewareFunction[] = [requireAuth];
export const handle = { scripts: true };

export async function loader({ context }: Route.LoaderArgs) {
  const [{ user, subscription }, { aside }] = await Promise.all([
    currentPerson(context),
    read(context.get(apiContext).api.dashboard.initialize.$get()),
  ]);
  return {
    person: { name: user.name, role: user.role, plan: subscription.plan },
    aside,
    notice: context.get(sessionContext).takeNotice(),
  };
}

export default function DashboardLayout({ loaderData: { person, aside, notice } }: Route.ComponentProps) {
  return (
    <div className="shell">
      <Sidebar person={person} chats={aside.chats} projects={aside.projects} />
      <div className="main">
        {notice && (
          <div className="page-notice">
            <Notice type={notice.type}>
              <p>{notice.title}</p>
            </Notice>
          </div>
        )}
        <Outlet />
      </div>
    </div>
  );
}
