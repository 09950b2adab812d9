import type { Route } from "./+types/robots";

/** Pages that search engines may read: the public ones. */
export function loader({ url }: Route.LoaderArgs) {
  const closed = ["/auth/", "/user", "/conversation/", "/admin", "/v1/"].map((path) => `Disallow: ${path}`).join("\n");
  return new Response(`User-agent: *\n${closed}\n\nSitemap: ${url.origin}/sitemap.xml\n`, {
    headers: { "Content-Type": "text/plain; charset=utf-8" },
  });
}
