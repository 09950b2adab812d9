import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { sql } from "kysely";
import type { ApiEnv } from "../env.server.ts";
import { signedIn } from "../http/authentication.server.ts";
import { answerInvalid } from "../http/problem.server.ts";
import { answers, bearer } from "../http/schemas.server.ts";

const dayLong = 24 * 60 * 60_000;
export const daysAsked = z.coerce
  .number("days tiene que ser un número.")
  .int("days tiene que ser un número entero.")
  .min(1, "days tiene que ser 1 o más.")
  .max(90, "days tiene que ser 90 o menos.")
  .default(30);

/** The last `days` days by UTC, today the last. */
export const dayNames = (days: number, now: number) =>
  Array.from({ length: days }, (_, index) => nameOf(now - (days - 1 - index) * dayLong));

/** The first of these days. */
export const firstDay = (days: number, now: number) => nameOf(now - (days - 1) * dayLong);

const nameOf = (time: number) => new Date(time).toISOString().slice(0, 10);

const counted = { messages: z.number(), inputTokens: z.number(), outputTokens: z.number() };
const usageAnswer = z
  .object({ days: z.array(z.object({ day: z.string().openapi({ example: "2026-11-21" }), ...counted })) })
  .openapi("Usage");

// In the answer: a year, and the conversations of this month that cost most.
const monthsShown = 12;
const chatsShown = 10;

const costs = z
  .object({
    months: z.array(
      z.object({ month: z.string().openapi({ example: "2026-11" }), tokens: z.number(), cost: z.number() }),
    ),
    chats: z.array(z.object({ id: z.string(), title: z.string(), replies: z.number(), cost: z.number() })),
  })
  .openapi("Costs", { description: "En la moneda de los precios de los modelos." });

const costsRoute = createRoute({
  method: "get",
  path: "/costs",
  security: bearer,
  middleware: [signedIn],
  responses: {
    200: answers(costs, "Lo que han costado los meses del último año, y las conversaciones de este mes que más."),
  },
});
const showCosts: RouteHandler<typeof costsRoute, ApiEnv> = async (c) => {
  const { db } = c.var.services;
  const userId = c.var.person.id;
  const now = new Date();
  const first = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - (monthsShown - 1), 1);
  const month = sql<string>`substr(day, 1, 7)`;
  const months = await db
    .selectFrom("usage")
    .where("userId", "=", userId)
    .where("day", ">=", nameOf(first))
    .groupBy(month)
    .orderBy(month, "desc")
    .select([
      month.as("month"),
      sql<number>`sum("inputTokens" + "outputTokens")`.as("tokens"),
      sql<number>`sum(cost)`.as("cost"),
    ])
    .execute();
  const cost = sql<number>`sum(messages.cost)`;
  const isFree = months.every((row) => Number(row.cost) === 0);
  const chats = isFree
    ? []
    : await db
        .selectFrom("messages")
        .innerJoin("chats", "chats.id", "messages.chatId")
        .where("messages.userId", "=", userId)
        .where("messages.createdAt", ">=", Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1))
        .where("messages.cost", ">", 0)
        // Temporary ones are listed nowhere.
        .where("chats.sessionId", "is", null)
        .groupBy(["chats.id", "chats.title"])
        .orderBy(cost, "desc")
        .limit(chatsShown)
        .select(["chats.id", "chats.title", sql<number>`count(*)`.as("replies"), cost.as("cost")])
        .execute();
  return c.json(
    {
      months: months.map((row) => ({ month: row.month, tokens: Number(row.tokens), cost: Number(row.cost) })),
      chats: chats.map((row) => ({ ...row, replies: Number(row.replies), cost: Number(row.cost) })),
    },
    200,
  );
};

const usageRoute = createRoute({
  method: "get",
  path: "/",
  security: bearer,
  middleware: [signedIn],
  request: { query: z.object({ days: daysAsked }) },
  responses: { 200: answers(usageAnswer, "El uso de los últimos días.") },
});
/** The person's usage per UTC day, including days without any, and its cost. */
export const usage = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(costsRoute, showCosts)
  .openapi(usageRoute, async (c) => {
    const { days } = c.req.valid("query");
    const now = Date.now();
    const rows = await c.var.services.db
      .selectFrom("usage")
      .where("userId", "=", c.var.person.id)
      .where("day", ">=", firstDay(days, now))
      .groupBy("day")
      .select([
        "day",
        sql<number>`sum(messages)`.as("messages"),
        sql<number>`sum("inputTokens")`.as("inputTokens"),
        sql<number>`sum("outputTokens")`.as("outputTokens"),
      ])
      .execute();
    const found = new Map(rows.map((row) => [row.day, row]));
    const shown = dayNames(days, now).map((day) => {
      const row = found.get(day);
      return {
        day,
        messages: Number(row?.messages ?? 0),
        inputTokens: Number(row?.inputTokens ?? 0),
        outputTokens: Number(row?.outputTokens ?? 0),
      };
    });
    return c.json({ days: shown }, 200);
  });
