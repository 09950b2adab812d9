import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { v7 as newId } from "uuid";
import type { Db } from "../../db/engine.server.ts";
import type { MessageRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import { cutText } from "../../process/text/cut-text.ts";
import type { ApiEnv, Person, Services } from "../env.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, invalid, notFound } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, bearer, idParam, takes, text } from "../http/schemas.server.ts";
import { findMessage } from "../http/visibility.server.ts";

const opinion = z.strictObject({
  useful: z.boolean("Di si ha sido útil o no."),
  reason: text("El motivo", limits.opinionReason).default(""),
});
const shown = z.object({ useful: z.boolean(), reason: z.string() }).openapi("MessageOpinion");
const common = {
  path: "/{id}/opinion" as const,
  security: bearer,
  middleware: [signedIn, active, publishes("message")],
};

/** A person's opinion of a reply of theirs: one for each, which they can change and take back. */
export const messageOpinions = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(
    createRoute({
      method: "get",
      ...common,
      request: { params: idParam },
      responses: { 200: answers(shown, "La opinión; 404 si no hay.") },
    }),
    async (c) => {
      const reply = await findOwnReply(c.var.services, c.var.person, c.req.valid("param").id);
      const row = await c.var.services.db
        .selectFrom("opinions")
        .where("messageId", "=", reply.id)
        .select(["useful", "reason"])
        .executeTakeFirstOrThrow(notFound);
      return c.json({ useful: row.useful === 1, reason: row.reason }, 200);
    },
  )
  .openapi(
    createRoute({
      method: "put",
      ...common,
      request: { params: idParam, body: takes(opinion) },
      responses: { 204: { description: "Guardada. La leerá quien administra, con la pregunta y la respuesta." } },
    }),
    async (c) => {
      const { person, services } = c.var;
      const reply = await findOwnReply(services, person, c.req.valid("param").id);
      await countAttempt(c, "message", person.id);
      if (reply.status === "streaming" || reply.status === "waiting") {
        throw invalid("useful", "Esta respuesta aún se está escribiendo.");
      }
      const { useful, reason } = c.req.valid("json");
      const now = Date.now();
      const said = { useful: useful ? 1 : 0, reason, ...(await judged(services.db, reply)), updatedAt: now } as const;
      await services.db
        .insertInto("opinions")
        .values({ id: newId(), createdAt: now, messageId: reply.id, userId: person.id, ...said })
        .onConflict((conflict) => conflict.column("messageId").doUpdateSet(said))
        .execute();
      return c.body(null, 204);
    },
  )
  .openapi(
    createRoute({
      method: "delete",
      ...common,
      request: { params: idParam },
      responses: { 204: { description: "Ya no hay opinión." } },
    }),
    async (c) => {
      const reply = await findOwnReply(c.var.services, c.var.person, c.req.valid("param").id);
      await c.var.services.db.deleteFrom("opinions").where("messageId", "=", reply.id).execute();
      return c.body(null, 204);
    },
  );

/** A reply of the person's own, in a chat that is kept. Throws 404; 422 in a temporary chat, of which nothing stays. */
async function findOwnReply(services: Services, person: Person, id: string): Promise<MessageRow> {
  const reply = await findMessage(services, person, id);
  if (reply.role !== "assistant" || reply.userId !== person.id) throw notFound();
  const chat = await services.db
    .selectFrom("chats")
    .where("id", "=", reply.chatId)
    .select("sessionId")
    .executeTakeFirst();
  if (chat?.sessionId) throw invalid("useful", "De una conversación temporal no queda nada, tampoco una opinión.");
  return reply;
}

/** Question and answer as they are now, to be stored with an opinion: later edits do not change them. */
async function judged(db: Db, reply: MessageRow) {
  const question = await db
    .selectFrom("messages")
    .where("id", "=", reply.parentId)
    .select("content")
    .executeTakeFirst();
  const chat = await db
    .selectFrom("chats")
    .leftJoin("assistants", "assistants.id", "chats.assistantId")
    .where("chats.id", "=", reply.chatId)
    .select(["chats.assistantId", "assistants.name as assistant"])
    .executeTakeFirstOrThrow(notFound);
  const cut = (words: string) => cutText(words, limits.opinionText);
  return {
    modelId: reply.modelId,
    assistantId: chat.assistantId,
    assistant: chat.assistant ?? "",
    question: cut(question?.content ?? ""),
    reply: cut(reply.content),
  };
}
