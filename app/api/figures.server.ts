import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { sql } from "kysely";
import type { Db } from "../db/connection.server.ts";
import { admin, signedIn } from "./authentication.server.ts";
import type { ApiEnv } from "./env.server.ts";
import { answerInvalid } from "./problem.server.ts";
import { answers, bearer } from "./schemas.server.ts";
import { dayNames, daysAsked } from "./usage.server.ts";

const counted = { messages: z.number(), tokens: z.number(), cost: z.number() };
const figures = z
  .object({
    people: z.number(),
    activeToday: z.number(),
    failed: z.number().openapi({ description: "Respuestas fallidas en esos días." }),
    storedBytes: z.number(),
    days: z.array(z.object({ day: z.string(), ...counted })),
    models: z.array(z.object({ modelId: z.string(), name: z.string().nullable(), ...counted })),
    users: z.array(z.object({ userId: z.string(), name: z.string(), ...counted })),
  })
  .openapi("Figures");

const usersShown = 10;

/** What the installation is used for, in figures. Days are UTC. */
export const figuresOfAll = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(
  createRoute({
    method: "get",
    path: "/figures",
    security: bearer,
    middleware: [signedIn, admin],
    request: { query: z.object({ days: daysAsked }) },
    responses: { 200: answers(figures, "Las cifras de los últimos días.") },
  }),
  async (c) => {
    const { db } = c.var.services;
    const names = dayNames(c.req.valid("query").days, Date.now());
    const first = names[0] ?? "";
    const [people, failed, stored, days, models, users] = await Promise.all([
      countPeople(db, names.at(-1) ?? ""),
      countFailed(db, Date.parse(first)),
      db.selectFrom("files").select(sql<number>`coalesce(sum(size), 0)`.as("bytes")).executeTakeFirstOrThrow(),
      usedBy(db, first).groupBy("day").select("day").execute(),
      usedBy(db, first)
        .leftJoin("models", "models.id", "usage.modelId")
        .groupBy(["usage.modelId", "models.name"])
        .select(["usage.modelId", "models.name"])
        .orderBy("tokens", "desc")
        .execute(),
      usedBy(db, first)
        .innerJoin("users", "users.id", "usage.userId")
        .groupBy(["usage.userId", "users.name"])
        .select(["usage.userId", "users.name"])
        .orderBy("tokens", "desc")
        .limit(usersShown)
        .execute(),
    ]);
    const used = new Map(days.map((row) => [row.day, numbers(row)]));
    const none = { messages: 0, tokens: 0, cost: 0 };
    return c.json(
      {
        ...people,
        failed,
        storedBytes: Number(stored.bytes),
        days: names.map((day) => ({ day, ...none, ...used.get(day) })),
        models: models.map((row) => ({ modelId: row.modelId, name: row.name, ...numbers(row) })),
        users: users.map((row) => ({ userId: row.userId, name: row.name, ...numbers(row) })),
      },
      200,
    );
  },
);

const usedBy = (db: Db, first: string) =>
  db
    .selectFrom("usage")
    .where("day", ">=", first)
    .select([
      sql<number>`sum(usage.messages)`.as("messages"),
      sql<number>`sum(usage."inputTokens" + usage."outputTokens")`.as("tokens"),
      sql<number>`sum(usage.cost)`.as("cost"),
    ]);

// PostgreSQL answers sums of big numbers as text.
const numbers = ({ messages, tokens, cost }: { messages: number; tokens: number; cost: number }) => ({
  messages: Number(messages),
  tokens: Number(tokens),
  cost: Number(cost),
});

async function countPeople(db: Db, today: string) {
  const row = await db
    .selectFrom("users")
    .select([
      sql<number>`count(*)`.as("people"),
      sql<number>`sum(case when "lastSeenAt" >= ${Date.parse(today)} then 1 else 0 end)`.as("activeToday"),
    ])
    .executeTakeFirstOrThrow();
  return { people: Number(row.people), activeToday: Number(row.activeToday) };
}

/** By id, which begins with the time it was made at (RFC 9562, UUIDv7): the index leads straight to the newest. */
async function countFailed(db: Db, since: number): Promise<number> {
  const hex = since.toString(16).padStart(12, "0");
  const row = await db
    .selectFrom("messages")
    .where("id", ">=", `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`)
    .where("status", "=", "failed")
    .select(sql<number>`count(*)`.as("failed"))
    .executeTakeFirstOrThrow();
  return Number(row.failed);
}
