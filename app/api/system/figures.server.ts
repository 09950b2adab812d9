import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { sql } from "kysely";
import type { Db } from "../../db/engine.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { admin, signedIn } from "../http/authentication.server.ts";
import { answerInvalid } from "../http/problem.server.ts";
import { answers, bearer, isoOrNull } from "../http/schemas.server.ts";
import { dayNames, daysAsked, firstDay } from "../users/usage.server.ts";

const counted = { messages: z.number(), tokens: z.number(), cost: z.number() };
const figures = z
  .object({
    people: z.number(),
    activeToday: z.number(),
    newPeople: z.number().openapi({ description: "Cuentas de los últimos siete días." }),
    failed: z.number().openapi({ description: "Respuestas fallidas en esos días." }),
    storedBytes: z.number(),
    days: z.array(
      z.object({
        day: z.string(),
        ...counted,
        failed: z.number(),
        people: z.number().openapi({ description: "Personas que escribieron ese día." }),
        storedBytes: z.number().openapi({ description: "Lo que ocupan los archivos que se subieron ese día." }),
        models: z.record(z.string(), z.number()).openapi({ description: "Tokens por modelo." }),
      }),
    ),
    models: z.array(z.object({ modelId: z.string(), name: z.string().nullable(), ...counted })),
    health: z
      .array(
        z.object({
          modelId: z.string(),
          name: z.string(),
          answered: z.number(),
          failed: z.number(),
          lastAnsweredAt: z.string().nullable(),
          lastFailedAt: z.string().nullable(),
          lastError: z.string().nullable(),
        }),
      )
      .openapi({ description: "Cómo responden los modelos activos, en las últimas 24 horas." }),
    users: z.array(z.object({ userId: z.string(), name: z.string(), ...counted })),
    groups: z
      .array(z.object({ groupId: z.string(), name: z.string(), ...counted }))
      .openapi({ description: "Lo de quienes están ahora en cada grupo; quien está en dos cuenta en los dos." }),
  })
  .openapi("Figures");

const usersShown = 10;
const groupsShown = 50;
const dayLong = 24 * 60 * 60_000;

/** Usage of the whole installation. Days are UTC. */
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
    const { days: asked } = c.req.valid("query");
    const now = Date.now();
    const first = firstDay(asked, now);
    const [people, failed, stored, days, tokensOf, uploaded, models, users, groups, health] = await readFigures(
      db,
      first,
      now,
    );
    const used = new Map(days.map((row) => [row.day, { ...numbers(row), people: Number(row.people) }]));
    const none = { messages: 0, tokens: 0, cost: 0, people: 0 };
    return c.json(
      {
        ...people,
        failed: [...failed.values()].reduce((sum, count) => sum + count, 0),
        storedBytes: Number(stored.bytes),
        days: dayNames(asked, now).map((day) => ({
          day,
          ...none,
          ...used.get(day),
          failed: failed.get(day) ?? 0,
          storedBytes: uploaded.get(day) ?? 0,
          models: Object.fromEntries(
            tokensOf.filter((row) => row.day === day).map(({ modelId, tokens }) => [modelId, Number(tokens)]),
          ),
        })),
        models: models.map((row) => ({ modelId: row.modelId, name: row.name, ...numbers(row) })),
        health,
        groups: groups.map((row) => ({ groupId: row.groupId, name: row.name, ...numbers(row) })),
        users: users.map((row) => ({ userId: row.userId, name: row.name, ...numbers(row) })),
      },
      200,
    );
  },
);

/** Rows of all figures since the day `first`. `now`: in ms. */
const readFigures = (db: Db, first: string, now: number) =>
  Promise.all([
    countPeople(db, firstDay(1, now)),
    failedByDay(db, Date.parse(first)),
    db.selectFrom("files").select(sql<number>`coalesce(sum(size), 0)`.as("bytes")).executeTakeFirstOrThrow(),
    usedBy(db, first)
      .groupBy("day")
      .select(["day", sql<number>`count(distinct "userId")`.as("people")])
      .execute(),
    usedBy(db, first).groupBy(["day", "modelId"]).select(["day", "modelId"]).execute(),
    storedByDay(db, Date.parse(first)),
    usedBy(db, first)
      .leftJoin("models", "models.id", "usage.modelId")
      .leftJoin("searchModels", "searchModels.id", "usage.modelId")
      .groupBy(["usage.modelId", "models.name", "searchModels.name"])
      .select(["usage.modelId", (e) => e.fn.coalesce("models.name", "searchModels.name").as("name")])
      .orderBy("tokens", "desc")
      .execute(),
    usedBy(db, first)
      .innerJoin("users", "users.id", "usage.userId")
      .groupBy(["usage.userId", "users.name"])
      .select(["usage.userId", "users.name"])
      .orderBy("tokens", "desc")
      .limit(usersShown)
      .execute(),
    usedBy(db, first)
      .innerJoin("members", "members.userId", "usage.userId")
      .innerJoin("groups", "groups.id", "members.groupId")
      .groupBy(["groups.id", "groups.name"])
      .select(["groups.id as groupId", "groups.name"])
      .orderBy("cost", "desc")
      .orderBy("tokens", "desc")
      .limit(groupsShown)
      .execute(),
    healthOfModels(db, now - dayLong),
  ]);

const usedBy = (db: Db, first: string) =>
  db
    .selectFrom("usage")
    .where("day", ">=", first)
    .select([
      sql<number>`sum(usage.messages)`.as("messages"),
      sql<number>`sum(usage."inputTokens" + usage."outputTokens")`.as("tokens"),
      sql<number>`sum(usage.cost)`.as("cost"),
    ]);

// PostgreSQL returns sums of BIGINT as text.
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
      sql<number>`sum(case when "createdAt" >= ${Date.parse(today) - 6 * dayLong} then 1 else 0 end)`.as("newPeople"),
      sql<number>`sum(case when "lastSeenAt" >= ${Date.parse(today)} then 1 else 0 end)`.as("activeToday"),
    ])
    .executeTakeFirstOrThrow();
  return { people: Number(row.people), activeToday: Number(row.activeToday), newPeople: Number(row.newPeople) };
}

/** How each enabled model has answered since a time, including models that nobody has asked. */
async function healthOfModels(db: Db, since: number) {
  const recent = db.selectFrom("messages").where("createdAt", ">=", since).where("role", "=", "assistant");
  const [models, counts, failures] = await Promise.all([
    db.selectFrom("models").where("enabled", "=", 1).orderBy("position").orderBy("id").select(["id", "name"]).execute(),
    recent
      .where("status", "in", ["complete", "failed"])
      .groupBy(["modelId", "status"])
      .select(["modelId", "status", sql<number>`count(*)`.as("count"), sql<number>`max("createdAt")`.as("last")])
      .execute(),
    recent
      .where("status", "=", "failed")
      .orderBy("createdAt", "desc")
      .limit(100)
      .select(["modelId", "error"])
      .execute(),
  ]);
  return models.map(({ id, name }) => {
    const of = (status: string) => counts.find((row) => row.modelId === id && row.status === status);
    const [answered, failed] = [of("complete"), of("failed")];
    return {
      modelId: id,
      name,
      answered: Number(answered?.count ?? 0),
      failed: Number(failed?.count ?? 0),
      lastAnsweredAt: isoOrNull(answered?.last ?? null),
      lastFailedAt: isoOrNull(failed?.last ?? null),
      lastError: failures.find(({ modelId }) => modelId === id)?.error ?? null,
    };
  });
}

// Times are in ms.
const dayOf = sql<number>`"createdAt" / ${sql.lit(dayLong)}`;

const byDay = (rows: { number: number; value: number }[]) =>
  new Map(
    rows.map(({ number, value }) => [new Date(Number(number) * dayLong).toISOString().slice(0, 10), Number(value)]),
  );

/** Bytes of files by the day they came (UTC); days without any are left out. */
async function storedByDay(db: Db, since: number): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom("files")
    .where("createdAt", ">=", since)
    .groupBy(dayOf)
    .select([dayOf.as("number"), sql<number>`sum(size)`.as("value")])
    .execute();
  return byDay(rows);
}

/** Failed replies by day (UTC); days without one are left out. */
async function failedByDay(db: Db, since: number): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom("messages")
    .where("status", "=", "failed")
    .where("createdAt", ">=", since)
    .groupBy(dayOf)
    .select([dayOf.as("number"), sql<number>`count(*)`.as("value")])
    .execute();
  return byDay(rows);
}
