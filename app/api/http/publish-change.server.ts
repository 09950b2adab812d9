import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import type { Change } from "../../realtime/changes.server.ts";
import type { ApiEnv } from "../env.server.ts";

/**
 * For routes after `signedIn`: tells the open pages of whoever asks which kind of thing a successful write has changed.
 * Replies publish by themselves (`replies/running/runs.server.ts`).
 */
export const publishes = (what: Change["what"]) =>
  afterWrite(async (c) => {
    if (!(await isDraft(c))) c.var.services.changes.tell({ userId: c.var.person.id, what });
  });

/**
 * For routes that may end sessions: tells the sockets of the user `userOf` to recheck theirs. Without a known user (a reset
 * link), the empty id makes every socket recheck.
 */
export const mayEndSessions = (userOf: (c: Context<ApiEnv>) => string) =>
  afterWrite(async (c) => c.var.services.changes.tell({ userId: userOf(c), what: "sessions" }));

/** Middleware that acts once a write has succeeded; reads and refusals do nothing. */
const afterWrite = (act: (c: Context<ApiEnv>) => Promise<void>) =>
  createMiddleware<ApiEnv>(async (c, next) => {
    await next();
    if (c.req.method !== "GET" && c.req.method !== "HEAD" && c.res.ok) await act(c);
  });

/** A PATCH of nothing but the draft: it is saved every second and not shown on other pages. */
async function isDraft(c: Context<ApiEnv>): Promise<boolean> {
  if (c.req.method !== "PATCH") return false;
  const sent = Object.keys(await c.req.json<object>());
  return sent.length === 1 && sent[0] === "draft";
}
