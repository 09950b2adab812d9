import type { Context } from "hono";
import type { ApiEnv } from "./env.server.ts";

/** Tells a person's other pages what this call has changed; replies and others' things tell it themselves. */
export async function tellChange(c: Context<ApiEnv>): Promise<void> {
  const { method, path } = c.req;
  if (method === "GET" || method === "HEAD" || !c.res.ok) return;
  const { changes } = c.var.services;
  const person = c.var.person as ApiEnv["Variables"]["person"] | undefined;
  const [, room, noun = ""] = /^(?:\/v1)?\/(auth|api)\/([^/]+)/.exec(path) ?? [];
  // Sessions end by signing out, by a new password and with their account. Who a link or a cookie stands for is not known here.
  const opens = room === "auth" && /^(refresh|signin|signup)$/.test(noun);
  const [, changed = person?.id ?? ""] = /\/api\/user\/([^/]+)/.exec(path) ?? [];
  if ((room === "auth" && !opens) || noun === "user") changes.tell({ userId: changed, what: "sessions" });
  if (!person || room !== "api" || noun === "intelligence" || (await isDraft(c))) return;
  changes.tell({ userId: person.id, what: noun });
}

/** What is being typed is kept every second, and is nothing to show elsewhere. */
async function isDraft(c: Context<ApiEnv>): Promise<boolean> {
  if (c.req.path.endsWith("/draft")) return true;
  if (c.req.method !== "PATCH") return false;
  const sent = Object.keys((await c.req.json()) as object);
  return sent.length === 1 && sent[0] === "draft";
}
