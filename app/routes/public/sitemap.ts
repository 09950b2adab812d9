import { read } from "../../web/api-result.server.ts";
import { apiContext } from "../../web/context.ts";
import type { Route } from "./+types/sitemap";
import { pathOf } from "./paths.ts";

/** The published pages, for search engines (sitemaps.org). */
export async function loader({ context, url }: Route.LoaderArgs) {
  const { items } = await read(context.get(apiContext).api.page.$get({ query: { limit: "100" } }));
  const entries = items
    .filter(({ published }) => published)
    .map(({ slug, updatedAt }) => `<url><loc>${url.origin}${pathOf(slug)}</loc><lastmod>${updatedAt}</lastmod></url>`);
  return new Response(
    `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${entries.join("\n")}\n</urlset>\n`,
    { headers: { "Content-Type": "application/xml; charset=utf-8" } },
  );
}
