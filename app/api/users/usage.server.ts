import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
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

/** The person's usage per UTC day, including days without any. */
export const usage = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(
  createRoute({
    method: "get",
    path: "/",
    security: bearer,
    middleware: [signedIn],
    request: { query: z.object({ days: daysAsked }) },
    responses: { 200: answers(usageAnswer, "El uso de los últimos días.") },
  }),
  async (c) => {
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
  },
);
