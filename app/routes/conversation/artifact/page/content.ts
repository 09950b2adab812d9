import { redirect } from "react-router";
import { read } from "../../../../web/api-result.server.ts";
import { apiContext } from "../../../../web/context.ts";
import { requireActive, requireAuth } from "../../../../web/guards.server.ts";
import { versionIn } from "../version-in.ts";
import type { Route } from "./+types/content";
import { freedoms } from "./freedoms.ts";
import { isPage } from "./is-page.ts";
import { withSurroundings } from "./surroundings.server.ts";

export const middleware: Route.MiddlewareFunction[] = [requireAuth, requireActive];

/**
 * A page that is written as an artifact, for the frame that shows it. `sandbox` takes this site's origin from it: no cookies, no windows;
 * nothing is fetched. Its scripts run where `?programas=si` allows them, and only in a frame, from which they lead nowhere; its forms are
 * theirs to read, and are sent nowhere.
 */
export async function loader({ context, params: { id }, url, request }: Route.LoaderArgs) {
  const place = request.headers.get("Sec-Fetch-Dest");
  if (place !== null && place !== "iframe") return redirect(`/conversation/escrito/${id}/pagina${url.search}`);
  const { text, language } = await read(
    context.get(apiContext).api.artifact[":id"].$get({ param: { id }, query: versionIn(url) }),
  );
  if (!isPage(language)) throw new Response(null, { status: 404 });
  const runs = place !== null && url.searchParams.get("programas") === "si";
  const policy = [
    runs ? `sandbox ${freedoms}` : "sandbox",
    "default-src 'none'",
    ...(runs ? ["script-src 'unsafe-inline'"] : []),
    "style-src 'unsafe-inline'",
    "img-src data: blob:",
    "media-src data: blob:",
    "font-src data:",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
  ].join("; ");
  const headers = { "Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy };
  return new Response(runs ? withSurroundings(text) : text, {
    headers: { ...headers, "Cache-Control": "private, no-store" },
  });
}
