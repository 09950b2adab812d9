import { z } from "@hono/zod-openapi";
import { expressionBuilder } from "kysely";
import type { Tables } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import type { Person } from "../env.server.ts";
import { isAdmin } from "../http/authentication.server.ts";
import { invalid } from "../http/problem.server.ts";
import { everything, type Resource } from "../http/resource.server.ts";
import { id, rowFields, text, timesOf, withheld } from "../http/schemas.server.ts";
import { inSession } from "../http/visibility.server.ts";

const e = expressionBuilder<Tables, "summaries">();

const body = z.strictObject({
  chatId: id,
  upToMessageId: id.openapi({ description: "El último mensaje que resume." }),
  content: text("El resumen", limits.summary, 1),
});
const shown = body
  .extend({
    ...rowFields,
    modelId: z.string().nullable(),
    tokens: z.number(),
    withheld,
  })
  .openapi("Summary");

const isInSession = (person: Person) =>
  e("summaries.chatId", "in", e.selectFrom("chats").where(inSession(person)).select("chats.id"));
const isOwn = (person: Person) =>
  e("summaries.chatId", "in", e.selectFrom("chats").where("chats.userId", "=", person.id).select("chats.id"));

/** Summaries of the older part of chats that outgrew a model's window. */
export const summaries: Resource<"summaries", typeof shown, typeof body> = {
  table: "summaries",
  name: "summary",
  byPrograms: true,
  shown,
  body,
  show: (row) => ({ ...row, ...timesOf(row) }),
  async columns(given, { services: { db }, person }) {
    const message = await db
      .selectFrom("messages")
      .innerJoin("chats", "chats.id", "messages.chatId")
      .where(inSession(person))
      .where("messages.id", "=", given.upToMessageId)
      .where("messages.chatId", "=", given.chatId)
      .select("messages.id")
      .executeTakeFirst();
    if (!message) throw invalid("upToMessageId", "Ese mensaje no está en esa conversación.");
    return { ...given, modelId: null, tokens: Math.ceil(given.content.length / 4) };
  },
  list: {
    searched: ["content"],
    sortable: [{ number: "createdAt", direction: "desc" }],
    filters: { chatId: "text", modelId: "text" },
  },
  sees: (person) => e.and([isInSession(person), isAdmin(person) ? everything : isOwn(person)]),
  ofChat: {
    idOf: ({ chatId }) => chatId,
    isOwn,
    withhold: (summary) => ({ ...summary, content: "", withheld: true }),
  },
  async ownerOf({ chatId }, db) {
    const chat = await db.selectFrom("chats").where("id", "=", chatId).select("userId").executeTakeFirst();
    return chat?.userId ?? null;
  },
};
