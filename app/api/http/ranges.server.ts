import type { Context } from "hono";
import type { Content, Part } from "../../files/storage/storage.server.ts";
import type { ApiEnv } from "../env.server.ts";

/**
 * Answers stored bytes, or the part of them that `Range` asks for (RFC 9110, 14): a download that broke off goes on where it stopped, and a
 * player skips. `headers` describe the bytes, with an `ETag` that changes whenever the bytes do. A client that has the bytes already gets
 * 304 and `open` is not called, so that a page that is seen again does not read its images from the store. An unreadable range counts as no
 * range; a range that begins behind the end gets 416.
 */
export async function answerBytes(
  c: Context<ApiEnv>,
  headers: Record<string, string> & { ETag: string },
  open: () => Content | Promise<Content>,
): Promise<Response> {
  const told = { ...headers, "Accept-Ranges": "bytes" };
  if (c.req.header("If-None-Match") === headers.ETag) return new Response(null, { status: 304, headers: told });
  const { size, read } = await open();
  const part = askedPart(c, size, headers.ETag);
  if (part === undefined) return new Response(read(), { headers: { ...told, "Content-Length": String(size) } });
  if (part.start >= size) return new Response(null, { status: 416, headers: { "Content-Range": `bytes */${size}` } });
  return new Response(read(part), {
    status: 206,
    headers: {
      ...told,
      "Content-Length": String(part.end - part.start + 1),
      "Content-Range": `bytes ${part.start}-${part.end}/${size}`,
    },
  });
}

/** The part that is asked for; undefined: all. `If-Range` is the tag of the content whose beginning the client has. */
function askedPart(c: Context<ApiEnv>, size: number, tag: string): Part | undefined {
  const had = c.req.header("If-Range");
  // A HEAD, which goes to the same handler, has no parts.
  if (c.req.method !== "GET" || (had !== undefined && had !== tag)) return;
  const [, from = "", to = ""] = /^bytes=(\d*)-(\d*)$/.exec(c.req.header("Range") ?? "") ?? [];
  // Without a beginning, `to` is how many bytes of the end are asked for.
  if (!from) return to ? { start: Math.max(0, size - Number(to)), end: size - 1 } : undefined;
  if (to && Number(to) < Number(from)) return;
  return { start: Number(from), end: to ? Math.min(Number(to), size - 1) : size - 1 };
}
