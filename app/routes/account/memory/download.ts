import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import type { Route } from "./+types/download";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];

/** Sentences that are remembered, a line each. */
export async function loader({ context }: Route.LoaderArgs) {
  const { items } = await read(context.get(apiContext).api.memory.$get());
  const headers = {
    "Content-Type": "text/plain; charset=utf-8",
    "Content-Disposition": 'attachment; filename="memoria.txt"',
    "Cache-Control": "private, no-store",
  };
  return new Response(items.map(({ text }) => `${text}\n`).join(""), { headers });
}
