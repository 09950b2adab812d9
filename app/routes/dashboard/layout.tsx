import { Outlet, useMatches, useRouteLoaderData } from "react-router";
import { read } from "../../answers.server.ts";
import { apiContext } from "../../context.ts";
import { requireAuth } from "../../guards.server.ts";
import { currentPerson } from "../../person.server.ts";
import type { loader as root } from "../../root.tsx";
import { Busy } from "../../ui/busy.tsx";
import { unlessSeen } from "../../ui/pages-seen.ts";
import { Realtime } from "../../ui/realtime.tsx";
import { Revisits } from "../../ui/revisits.tsx";
import { SidebarState, useSidebarState } from "../../ui/sidebar-state.ts";
import { Toasts } from "../../ui/toasts.tsx";
import type { Route } from "./+types/layout";
import { administered } from "./administered.server.ts";
import { Sidebar } from "./sidebar.tsx";
import { isFolded } from "./sidebar-cookie.server.ts";

export const middleware: Route.MiddlewareFunction[] = [requireAuth];
export const handle = { scripts: true };

export async function loader({ context, request }: Route.LoaderArgs) {
  const [{ user, subscription }, { aside }] = await Promise.all([
    currentPerson(context),
    read(context.get(apiContext).api.dashboard.initialize.$get()),
  ]);
  return {
    person: { name: user.name, role: user.role, plan: subscription.plan },
    aside,
    administered: user.role === "admin" ? [...administered] : [],
    folded: await isFolded(request),
  };
}

export const shouldRevalidate = unlessSeen;

export default function DashboardLayout({
  loaderData: { person, aside, administered: links, folded },
}: Route.ComponentProps) {
  const { notice, personId = null } = useRouteLoaderData<typeof root>("root") ?? {};
  // A dialog that is a route covers the page also where no script makes it modal.
  const covered = useMatches().some((match) => (match.handle as { dialog?: boolean } | undefined)?.dialog);
  const sidebarState = useSidebarState(folded);
  return (
    <SidebarState value={sidebarState}>
      <div className={sidebarState.folded ? "shell folded" : "shell"}>
        <Sidebar person={person} chats={aside.chats} projects={aside.projects} administered={links} inert={covered} />
        <div className="main">
          <Toasts message={notice} />
          <Outlet />
        </div>
      </div>
      <Busy />
      <Revisits personId={personId} />
      <Realtime />
    </SidebarState>
  );
}
