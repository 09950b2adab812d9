import { accentStyle } from "../../../process/text/accent.server.ts";
import type { Route } from "./+types/style";

/** The accent of the house as a style sheet; the colour stands in the address. */
export function loader({ params: { color } }: Route.LoaderArgs) {
  if (!/^[0-9a-f]{6}$/.test(color)) throw new Response(null, { status: 404 });
  return new Response(accentStyle(`#${color}`), {
    headers: { "Content-Type": "text/css; charset=utf-8", "Cache-Control": "public, max-age=31536000, immutable" },
  });
}
