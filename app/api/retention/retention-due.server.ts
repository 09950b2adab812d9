import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { sql } from "kysely";
import type { Db } from "../../db/engine.server.ts";
import type { RetentionRow } from "../../db/tables.ts";
import {
  dueArtifacts,
  dueAudit,
  dueBatches,
  dueChats,
  dueErrands,
  dueFiles,
  dueUsage,
} from "../../retention/due.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { admin, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, notFound } from "../http/problem.server.ts";
import { answers, bearer, idParam, iso } from "../http/schemas.server.ts";
import { titleForOthers } from "../inspections/inspect.server.ts";

// As many as a person looks through; the rest is counted.
const shownAtMost = 100;

const due = z
  .object({
    total: z.number(),
    items: z
      .array(
        z.object({
          id: z.string(),
          kind: z.enum(["chat", "file", "artifact"]),
          userId: z.string(),
          name: z.string(),
          at: z.string(),
        }),
      )
      .openapi({ description: `Los ${shownAtMost} más antiguos; de uso y de auditoría, ninguno.` }),
  })
  .openapi("RetentionDue");

/** Items that a rule would delete now. */
export const retentionDue = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(
  createRoute({
    method: "get",
    path: "/{id}/due",
    security: bearer,
    middleware: [signedIn, admin],
    request: { params: idParam },
    responses: { 200: answers(due, "Lo que esta regla borraría ahora.") },
  }),
  async (c) => {
    const { db } = c.var.services;
    const rule = await db
      .selectFrom("retentions")
      .where("id", "=", c.req.valid("param").id)
      .selectAll()
      .executeTakeFirstOrThrow(notFound);
    const { total, items } = await dueOf(db, rule, Date.now());
    return c.json({ total, items: items.map((item) => ({ ...item, at: iso(item.at) })) }, 200);
  },
);

/** A thing that a rule deletes: `at` is when it was last used, or made. */
type Due = Omit<z.infer<typeof due>["items"][number], "at"> & { at: number };

async function dueOf(db: Db, rule: RetentionRow, now: number): Promise<{ total: number; items: Due[] }> {
  if (rule.kind === "audit") {
    const through = await dueAudit(db, rule, now);
    if (!through) return { total: 0, items: [] };
    return { total: await countOf(db.selectFrom("audit").where("seq", "<=", through.seq).select(count)), items: [] };
  }
  if (rule.kind === "usage") return { total: await countOf(dueUsage(db, rule, now).select(count)), items: [] };
  if (rule.kind === "files") {
    const [files, artifacts] = [dueFiles(db, rule, now), dueArtifacts(db, rule, now)];
    const items: Due[] = [
      ...(await files
        .orderBy("createdAt")
        .limit(shownAtMost)
        .select(["id", "userId", "name", "createdAt as at", sql.lit("file" as const).as("kind")])
        .execute()),
      ...(await artifacts
        .orderBy("updatedAt")
        .limit(shownAtMost)
        .select(["id", "userId", "title as name", "updatedAt as at", sql.lit("artifact" as const).as("kind")])
        .execute()),
    ];
    return {
      total: (await countOf(files.select(count))) + (await countOf(artifacts.select(count))),
      items: items.sort((a, b) => a.at - b.at).slice(0, shownAtMost),
    };
  }
  const chats = dueChats(db, rule, now);
  const items = chats
    .orderBy("lastMessageAt")
    .limit(shownAtMost)
    .select(["id", "userId", titleForOthers.as("name"), "lastMessageAt as at", sql.lit("chat" as const).as("kind")]);
  return {
    total:
      (await countOf(chats.select(count))) +
      (await countOf(dueBatches(db, rule, now).select(count))) +
      (await countOf(dueErrands(db, rule, now).select(count))),
    items: await items.execute(),
  };
}

const count = sql<number>`count(*)`.as("count");

const countOf = async (query: { executeTakeFirstOrThrow(): Promise<{ count: number }> }) =>
  Number((await query.executeTakeFirstOrThrow()).count);
