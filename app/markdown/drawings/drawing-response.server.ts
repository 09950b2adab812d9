import { escapeHtml } from "../render.server.ts";
import { draw } from "./draw.server.ts";
import type { NoPicture } from "./drawing.server.ts";
import { drawingsIn } from "./drawings-in.server.ts";
import { font, ink } from "./palette.server.ts";

const headers = {
  "Content-Type": "image/svg+xml; charset=utf-8",
  // A drawing that is opened by itself is only a picture, too.
  "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  "X-Content-Type-Options": "nosniff",
};

/**
 * The picture with this key among the drawings of some texts; undefined if no drawing has the key. `owner`: as in `draw`. A browser asks
 * each time whether it may still show its copy.
 */
export async function drawingResponse(
  texts: string[],
  key: string,
  { request, owner }: { request: Request; owner: string },
): Promise<Response | undefined> {
  const source = texts.flatMap((text) => drawingsIn(text, Number.POSITIVE_INFINITY)).find((one) => one.key === key);
  if (!source) return undefined;
  // The key is a hash of the code.
  const kept = { "Cache-Control": "private, no-cache", ETag: `"${key}"` };
  if (request.headers.get("If-None-Match")?.includes(kept.ETag))
    return new Response(null, { status: 304, headers: kept });
  const picture = await draw(source, owner);
  return "problem" in picture
    ? new Response(sentence(picture), { headers: { ...headers, "Cache-Control": "no-store" } })
    : new Response(picture.svg, { headers: { ...headers, ...kept } });
}

/** The reason why there is no picture, drawn as one, for a page that was sent before the reason was known. */
function sentence({ problem }: NoPicture): string {
  const words = `<text x="8" y="28" font-family="${font}" font-size="15" fill="${ink}">${escapeHtml(problem)}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="640" height="44" viewBox="0 0 640 44">${words}</svg>`;
}
