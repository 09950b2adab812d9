import { Suspense } from "react";
import { Outlet, useMatches, useRouteLoaderData } from "react-router";
import { isTextBrowser } from "../../http/text-browsers.server.ts";
import type { loader as root } from "../../root.tsx";
import { lazily } from "../../ui/lazily.ts";
import { Busy } from "../../ui/navigation/busy.tsx";
import { handleOf } from "../../ui/navigation/page-handle.ts";
import { unlessSeen } from "../../ui/navigation/pages-seen.ts";
import { Realtime } from "../../ui/navigation/realtime.tsx";
import { Revisits } from "../../ui/navigation/revisits.tsx";
import { SidebarState, useSidebarState } from "../../ui/navigation/sidebar-state.ts";
import { Toasts } from "../../ui/overlays/toasts.tsx";
import { lightContext } from "../../web/context.ts";
import { requireUser } from "../../web/current-user.server.ts";
import { dashboardOf } from "../../web/dashboard.server.ts";
import { requireAuth } from "../../web/guards.server.ts";
import { zoneOfPerson } from "../../web/house.server.ts";
import type { Route } from "./+types/layout";
import { administered } from "./administered.server.ts";
import { groupChats } from "./chat-groups.server.ts";
import { Sidebar } from "./sidebar.tsx";
import { isFolded } from "./sidebar-cookie.server.ts";

export const middleware: Route.MiddlewareFunction[] = [requireAuth];
export const handle = { scripts: true, tells: true };

const Notices = lazily(() => import("./notices.tsx"));

// Chats in the sidebar of a light page; search and «Organizar varias» reach all chats.
const lightChats = 10;

// The other projects are behind «Proyectos»: the sidebar is for conversations.
const projectsShown = 4;

const plans: Record<string, string> = { gratis: "Plan Gratis", pro: "Plan Pro", equipo: "Plan Equipo" };

const initialsOf = (name: string) =>
  (name.match(/(?<![\p{L}\p{N}])[\p{L}\p{N}]/gu) ?? []).slice(0, 2).join("").toUpperCase();

export async function loader({ context, request }: Route.LoaderArgs) {
  const [{ user, subscription, groups: ofPerson }, { aside, notices, aiNotice, assistants, voice }] = await Promise.all(
    [requireUser(context), dashboardOf(context)],
  );
  return {
    person: {
      name: user.name,
      email: user.email,
      initials: initialsOf(user.name),
      label: user.role === "admin" ? "Administración" : plans[subscription.plan],
      administers: user.role === "admin",
    },
    groups: groupChats(
      context.get(lightContext) ? aside.chats.slice(0, lightChats) : aside.chats,
      Date.now(),
      await zoneOfPerson(context, request),
    ),
    projects: aside.projects.slice(0, projectsShown),
    notices,
    aiNotice,
    assistants,
    voice,
    administered: user.role === "admin" ? administered : [],
    inGroups: ofPerson.length > 0,
    menus: !isTextBrowser(request),
    folded: await isFolded(request),
  };
}

export const shouldRevalidate = unlessSeen;

export default function DashboardLayout({
  loaderData: { person, groups, projects, notices, administered: links, inGroups, menus, folded },
}: Route.ComponentProps) {
  const { flash, personId = null } = useRouteLoaderData<typeof root>("root") ?? {};
  // While a dialog route is open, the sidebar is inert: without script, a dialog element is not modal.
  const covered = useMatches().some((match) => handleOf(match)?.dialog);
  const sidebarState = useSidebarState(folded);
  return (
    <SidebarState value={sidebarState}>
      <div className={sidebarState.folded ? "shell folded" : "shell"}>
        <Sidebar
          person={person}
          groups={groups}
          projects={projects}
          administered={links}
          inGroups={inGroups}
          menus={menus}
          inert={covered}
        />
        <div className="main">
          <Toasts message={flash} />
          {notices.length > 0 && (
            <Suspense>
              <Notices notices={notices} />
            </Suspense>
          )}
          <Outlet />
        </div>
      </div>
      <Busy />
      <Revisits personId={personId} />
      <Realtime />
    </SidebarState>
  );
}
