import { Outlet } from "react-router";
import { requireActive } from "../../guards.server.ts";
import type { Route } from "./+types/layout";

export const middleware: Route.MiddlewareFunction[] = [requireActive];

// Without a loader a navigation in the browser would not ask the server, and the guard would not run.
export const loader = () => null;

export default function ConversationLayout() {
  return <Outlet />;
}
