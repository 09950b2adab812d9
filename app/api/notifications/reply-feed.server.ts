import { randomBytes } from "node:crypto";
import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { v7 as newId } from "uuid";
import type { Db } from "../../db/engine.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { active, noProgram, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, notFound } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, bearer, id, iso } from "../http/schemas.server.ts";

// Conversations in a feed, each with its last reply: more than a person has between two requests of a feed reader.
const entriesShown = 20;

const feed = z
  .object({ token: z.string().nullable().openapi({ description: "Con él se lee: es secreto. null: no hay canal." }) })
  .openapi("ReplyFeed");
const entry = z.object({
  id: z.string(),
  chatId: z.string(),
  title: z.string(),
  content: z.string(),
  status: z.enum(["complete", "waiting", "stopped", "failed", "interrupted"]),
  finishedAt: z.string(),
});
const entries = z
  .object({
    items: z.array(entry),
    updatedAt: z.string().openapi({ description: "De lo último que ha cambiado." }),
    aiNotice: z.string().openapi({ description: "Lo que avisa de que contesta una inteligencia artificial." }),
  })
  .openapi("ReplyFeedEntries");

const own = { path: "/" as const, security: bearer, middleware: [signedIn, noProgram, active, publishes("user")] };

const showFeedRoute = createRoute({
  method: "get",
  ...own,
  responses: { 200: answers(feed, "La dirección del canal.") },
});
const showFeed: RouteHandler<typeof showFeedRoute, ApiEnv> = async (c) => {
  const row = await c.var.services.db
    .selectFrom("replyFeeds")
    .where("userId", "=", c.var.person.id)
    .select("token")
    .executeTakeFirst();
  return c.json({ token: row?.token ?? null }, 200);
};

const renewFeedRoute = createRoute({
  method: "put",
  ...own,
  responses: { 200: answers(feed, "Una dirección nueva; la anterior ya no vale.") },
});
const renewFeed: RouteHandler<typeof renewFeedRoute, ApiEnv> = async (c) => {
  const now = Date.now();
  const renewed = { token: randomBytes(24).toString("base64url"), updatedAt: now };
  await c.var.services.db
    .insertInto("replyFeeds")
    .values({ id: newId(), createdAt: now, userId: c.var.person.id, ...renewed })
    .onConflict((conflict) => conflict.column("userId").doUpdateSet(renewed))
    .execute();
  return c.json({ token: renewed.token }, 200, { "Cache-Control": "no-store" });
};

const endFeedRoute = createRoute({
  method: "delete",
  ...own,
  responses: { 204: { description: "La dirección ya no vale." } },
});
const endFeed: RouteHandler<typeof endFeedRoute, ApiEnv> = async (c) => {
  await c.var.services.db.deleteFrom("replyFeeds").where("userId", "=", c.var.person.id).execute();
  return c.body(null, 204);
};

const readFeedRoute = createRoute({
  method: "get",
  path: "/{token}",
  request: { params: z.object({ token: id.openapi({ param: { name: "token", in: "path" } }) }) },
  responses: { 200: answers(entries, "La última respuesta de cada conversación, la más nueva primero.") },
});
const readFeed: RouteHandler<typeof readFeedRoute, ApiEnv> = async (c) => {
  const { db } = c.var.services;
  const { token } = c.req.valid("param");
  const found = await db
    .selectFrom("replyFeeds")
    .innerJoin("users", "users.id", "replyFeeds.userId")
    .where("token", "=", token)
    .where("users.status", "=", "active")
    .select(["replyFeeds.userId", "replyFeeds.updatedAt"])
    .executeTakeFirstOrThrow(notFound);
  await countAttempt(c, "feed", found.userId);
  const rows = await newestReplies(db, found.userId);
  const items = rows.flatMap(({ status, finishedAt, updatedAt, ...row }) =>
    status === "streaming" ? [] : { ...row, status, finishedAt: iso(finishedAt ?? updatedAt) },
  );
  const updatedAt = Math.max(found.updatedAt, ...rows.map((row) => row.finishedAt ?? row.updatedAt));
  return c.json({ items, updatedAt: iso(updatedAt), aiNotice: c.var.services.config.aiNotice }, 200);
};

/** The last messages of a person's newest chats, if these messages are replies. Temporary chats are left out. */
const newestReplies = (db: Db, userId: string) =>
  db
    .selectFrom("chats")
    .innerJoin("messages", "messages.id", "chats.leafId")
    .where("chats.userId", "=", userId)
    .where("chats.sessionId", "is", null)
    .where("messages.role", "=", "assistant")
    .orderBy("chats.lastMessageAt", "desc")
    .limit(entriesShown)
    .select(["messages.id", "messages.chatId", "chats.title", "messages.content", "messages.status"])
    .select(["messages.finishedAt", "messages.updatedAt"])
    .execute();

/** A person's newest replies for feed readers: at a secret address, which its owner can renew or end. */
export const replyFeeds = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(showFeedRoute, showFeed)
  .openapi(renewFeedRoute, renewFeed)
  .openapi(endFeedRoute, endFeed)
  .openapi(readFeedRoute, readFeed);
