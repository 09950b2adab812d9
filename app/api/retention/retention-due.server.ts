import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { Db } from "../../db/engine.server.ts";
import type { RetentionRow } from "../../db/tables.ts";
import {
  type Due,
  dueArtifacts,
  dueAudit,
  dueBatches,
  dueChats,
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
      .array(z.object({ id: z.string(), userId: z.string(), name: z.string(), at: z.string() }))
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

async function dueOf(db: Db, rule: RetentionRow, now: number): Promise<{ total: number; items: Due[] }> {
  if (rule.kind === "audit") {
    const through = await dueAudit(db, rule, now);
    if (!through) return { total: 0, items: [] };
    const gone = db.selectFrom("audit").where("seq", "<=", through.seq);
    return { total: await countOf(gone.select((e) => e.fn.countAll<number>().as("count"))), items: [] };
  }
  if (rule.kind === "usage") {
    const gone = dueUsage(db, rule, now);
    return { total: await countOf(gone.select((e) => e.fn.countAll<number>().as("count"))), items: [] };
  }
  if (rule.kind === "files") {
    const gone = dueFiles(db, rule, now);
    const written = dueArtifacts(db, rule, now);
    const items = [
      ...(await gone
        .orderBy("createdAt")
        .limit(shownAtMost)
        .select(["id", "userId", "name", "createdAt as at"])
        .execute()),
      ...(await written
        .orderBy("updatedAt")
        .limit(shownAtMost)
        .select(["id", "userId", "title as name", "updatedAt as at"])
        .execute()),
    ];
    const total =
      (await countOf(gone.select((e) => e.fn.countAll<number>().as("count")))) +
      (await countOf(written.select((e) => e.fn.countAll<number>().as("count"))));
    return { total, items: items.sort((a, b) => a.at - b.at).slice(0, shownAtMost) };
  }
  const gone = dueChats(db, rule, now);
  const items = gone
    .orderBy("lastMessageAt")
    .limit(shownAtMost)
    .select(["id", "userId", titleForOthers.as("name"), "lastMessageAt as at"]);
  const series = dueBatches(db, rule, now).select((e) => e.fn.countAll<number>().as("count"));
  return {
    total: (await countOf(gone.select((e) => e.fn.countAll<number>().as("count")))) + (await countOf(series)),
    items: await items.execute(),
  };
}

const countOf = async (query: { executeTakeFirstOrThrow(): Promise<{ count: number }> }) =>
  Number((await query.executeTakeFirstOrThrow()).count);
