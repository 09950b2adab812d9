import { createMiddleware } from "hono/factory";
import { BodyRefused, boundedBody } from "../../http/bounded-body.server.ts";
import { byteStream } from "../../process/byte-stream.server.ts";
import { limits } from "../../process/limits.ts";
import type { ApiEnv } from "../env.server.ts";
import { networkOf } from "./rate-limit.server.ts";

/**
 * Bounds every body without reading it. The validator reads it later, after the route's middleware has authenticated the sender.
 * `takesBodyOf` on a route raises the limit.
 */
export const boundBody = createMiddleware<ApiEnv>(async (c, next) => {
  const { raw } = c.req;
  if (!raw.body) return next();
  let refused: BodyRefused | undefined;
  const chunks = async function* () {
    const stranger = c.var.person ? undefined : networkOf(c);
    try {
      yield* boundedBody(raw, { maxSize: c.var.bodySize ?? limits.jsonBody, stranger });
    } catch (error) {
      if (error instanceof BodyRefused) refused = error;
      throw error;
    }
  };
  // The stream reads nothing ahead of its consumer.
  const body: RequestInit & { duplex: "half" } = { body: byteStream(chunks()), duplex: "half" };
  c.req.raw = new Request(raw, body);
  await next();
  // The validator reports an aborted body as invalid JSON; this is the true cause.
  if (refused) throw refused;
});

/** Raises the body limit of a route, in bytes. */
export const takesBodyOf = (bytes: number) =>
  createMiddleware<ApiEnv>(async (c, next) => {
    c.set("bodySize", bytes);
    await next();
  });
