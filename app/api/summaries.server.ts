import { z } from "@hono/zod-openapi";
import { limits } from "../limits.ts";
import type { Resource } from "./crud.server.ts";
import { invalid } from "./problem.server.ts";
import { id, iso, text } from "./schemas.server.ts";

const body = z.strictObject({
  chatId: id,
  upToMessageId: id.openapi({ description: "El último mensaje que resume." }),
  content: text("El resumen", limits.summary, 1),
});
const shown = body
  .extend({
    id: z.string(),
    createdAt: z.string(),
    updatedAt: z.string(),
    modelId: z.string().nullable(),
    tokens: z.number(),
  })
  .openapi("Summary");

/** What a model has of the part of a chat that outgrew its window. */
export const summaries: Resource<"summaries", typeof shown, typeof body> = {
  table: "summaries",
  name: "summary",
  shown,
  body,
  method: "put",
  show: (row) => ({ ...row, createdAt: iso(row.createdAt), updatedAt: iso(row.updatedAt) }),
  columns: (given) => ({ modelId: null, ...given, tokens: Math.ceil((given.content ?? "").length / 4) }),
  list: {
    table: "summaries",
    searched: ["content"],
    sortable: [{ column: "createdAt", direction: "desc" }],
    filters: { chatId: "text", modelId: "text" },
  },
  readable: (query, person) =>
    query.where("summaries.chatId", "in", (e) =>
      e.selectFrom("chats").where("chats.userId", "=", person.id).select("chats.id"),
    ),
  async ownerOf(db, { chatId }) {
    const chat = await db.selectFrom("chats").where("id", "=", chatId).select("userId").executeTakeFirst();
    return chat?.userId ?? null;
  },
  async check({ db }, { chatId, upToMessageId }) {
    const message = await db
      .selectFrom("messages")
      .where("id", "=", upToMessageId)
      .where("chatId", "=", chatId)
      .select("id")
      .executeTakeFirst();
    if (!message) throw invalid("upToMessageId", "Ese mensaje no está en esa conversación.");
  },
};
