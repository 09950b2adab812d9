import { read } from "../../../web/api-result.server.ts";
import { apiContext } from "../../../web/context.ts";
import { requireActive, requireAuth } from "../../../web/guards.server.ts";
import type { Route } from "./+types/frame";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];

/**
 * The page of a server of tools, for the frame that shows it. `sandbox` takes this site's origin from it, wherever it is opened: no
 * cookies, no forms, no windows; and it reaches only the places that its server has named.
 */
export async function loader({ context, params: { messageId: id, n } }: Route.LoaderArgs) {
  const { html, takesFrom, asksAt } = await read(
    context.get(apiContext).api.message[":id"].app[":n"].page.$get({ param: { id, n } }),
  );
  const from = takesFrom.join(" ");
  const policy = [
    "sandbox allow-scripts",
    "default-src 'none'",
    `script-src 'unsafe-inline' blob: ${from}`,
    `style-src 'unsafe-inline' ${from}`,
    `img-src data: blob: ${from}`,
    `font-src data: ${from}`,
    `media-src data: blob: ${from}`,
    `connect-src ${asksAt.join(" ") || "'none'"}`,
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
  ].join("; ");
  const headers = { "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy };
  return new Response(html, { headers: { ...headers, "Cache-Control": "private, no-store" } });
}
