import { createHash } from "node:crypto";
import { createMiddleware } from "hono/factory";
import { recordOf } from "../../process/text/json.ts";
import type { ApiEnv } from "../env.server.ts";

/**
 * Adds an `ETag` to JSON that other programs read, and answers 304 if they have it already (RFC 9110 §13). The tag of an item begins with
 * its version, for which `If-Match` asks (`stored-rows.server.ts`). In-process calls of the pages need none.
 */
export const etags = createMiddleware<ApiEnv>(async (c, next) => {
  await next();
  const asked = c.req.header("If-None-Match");
  const isRead = c.req.method === "GET" && c.res.status === 200;
  if (!isRead || !c.res.headers.get("Content-Type")?.startsWith("application/json")) return;
  if (!/^https?:\/\/[^/]+\/v1\//.test(c.req.url)) return;
  // A file that somebody has uploaded may be JSON, too, or claim to be.
  if (c.res.headers.has("ETag") || c.res.headers.has("Content-Disposition")) return;
  const text = await c.res.clone().text();
  const hash = createHash("sha1").update(text).digest("base64url");
  const updatedAt = recordOf(JSON.parse(text))?.updatedAt;
  const tag =
    typeof updatedAt === "string" && /^[\dT:.Z-]+$/.test(updatedAt) ? `"${updatedAt};${hash}"` : `W/"${hash}"`;
  c.res.headers.set("ETag", tag);
  const weak = (text: string) => text.trim().replace(/^W\//, "");
  if (asked === "*" || asked?.split(",").map(weak).includes(weak(tag))) {
    c.res = new Response(null, { status: 304, headers: { ETag: tag } });
  }
});
