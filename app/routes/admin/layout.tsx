import { data, Outlet } from "react-router";
import { requireUser } from "../../web/current-user.server.ts";
import { sendToOwed } from "../../web/guards.server.ts";
import { zoneOfPerson } from "../../web/house.server.ts";
import type { Route } from "./+types/layout";
import { zoneContext } from "./zone.server.ts";

/** Everyone but admins gets a 404. */
export const middleware: Route.MiddlewareFunction[] = [
  async ({ request, context, url }) => {
    const person = await requireUser(context);
    const { user } = person;
    if (user.role !== "admin" || user.status !== "active") throw data(null, 404);
    sendToOwed(person, request, url);
    context.set(zoneContext, await zoneOfPerson(context, request));
  },
];

// Empty loader: without one, client navigations would skip this layout's middleware.
export const loader = () => null;

export default function AdminLayout() {
  return <Outlet />;
}
