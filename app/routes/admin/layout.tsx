import { data, Outlet } from "react-router";
import { currentPerson } from "../../person.server.ts";
import type { Route } from "./+types/layout";
import { zoneContext, zoneOf } from "./zone.server.ts";

/** To everyone but admins there is no administration (product.md §3). */
export const middleware: Route.MiddlewareFunction[] = [
  async ({ request, context }) => {
    const { user } = await currentPerson(context);
    if (user.role !== "admin" || user.status !== "active") throw data(null, 404);
    context.set(zoneContext, zoneOf(request));
  },
];

// A layout without a loader is not asked in client navigations, and its rule with it.
export const loader = () => null;

export default function AdminLayout() {
  return <Outlet />;
}
