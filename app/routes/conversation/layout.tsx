import { Outlet } from "react-router";
import { requireActive } from "../../web/guards.server.ts";
import type { Route } from "./+types/layout";

// No loader: every page below asks the server for something, and the request runs the guard; a loader here would hold up revisits.
export const middleware: Route.MiddlewareFunction[] = [requireActive];

export default function ConversationLayout() {
  return <Outlet />;
}
