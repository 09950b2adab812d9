import type { Route } from "./+types/robots";

/** What search engines may read: the public pages. */
export function loader({ url }: Route.LoaderArgs) {
  const closed = ["/auth/", "/user", "/conversation/", "/admin", "/v1/"].map((path) => `Disallow: ${path}`).join("\n");
  return new Response(`User-agent: *\n${closed}\n\nSitemap: ${url.origin}/sitemap.xml\n`, {
    headers: { "Content-Type": "text/plain; charset=utf-8" },
  });
}
