import { OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { sql } from "kysely";
import { messageRow } from "../../db/rows.server.ts";
import { messagesSaying } from "../../db/search/find.server.ts";
import { indexText } from "../../db/search/passages.server.ts";
import { refuseTextBeyondPlan } from "../../replies/start.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { auditOthers } from "../http/audit.server.ts";
import { active, isAdmin, signedIn } from "../http/authentication.server.ts";
import { listPage } from "../http/list.server.ts";
import { answerInvalid, invalid, notFound } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { changeRoute, creationRoute, deletionRoute, itemRoute, listRoute } from "../http/resource-routes.server.ts";
import { bearer, id } from "../http/schemas.server.ts";
import { refuseStale, storeChange } from "../http/stored-rows.server.ts";
import { findChat, findMessage, seeChat, seeMessage, stopReplies } from "../http/visibility.server.ts";
import { readableChats, searchesOthers } from "../inspections/inspect.server.ts";
import { refuseOnHold } from "../retention/holds.server.ts";
import { conversationText } from "./conversation-text.server.ts";
import { message, showMessages, showOne } from "./message-fields.server.ts";

const newMessage = z.strictObject({ chatId: id, content: conversationText });
const messageChange = z.strictObject({ content: conversationText });
const common = { security: bearer, middleware: [signedIn, active, publishes("message")] };

const listMessagesRoute = listRoute(common, message, "Los mensajes de la persona; para administradores, todos.");
const listMessages: RouteHandler<typeof listMessagesRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const query = c.req.valid("query");
  const visible = services.db
    .selectFrom("messages")
    .selectAll("messages")
    .where("messages.chatId", "not in", (e) =>
      e.selectFrom("chats").where("chats.sessionId", "is not", null).select("chats.id"),
    )
    .$if(person.role !== "admin", (q) => q.where("messages.userId", "=", person.id))
    .$if(query.q !== "", (q) => {
      const ownerId = isAdmin(person) && searchesOthers(c) ? undefined : person.id;
      return q.where("messages.id", "in", messagesSaying(services.engine, query.q, ownerId));
    });
  const { rows, ...rest } = await listPage(services.db, visible, query, {
    table: "messages",
    sortable: [{ number: "createdAt", direction: "desc" }],
    filters: { chatId: "text", userId: "text", modelId: "text", role: "text", status: "text", parentId: "text" },
  });
  const readable = await readableChats(
    c,
    rows.map(({ chatId }) => chatId),
  );
  return c.json({ items: await showMessages(services.db, rows, person, readable), ...rest }, 200);
};

const createMessageRoute = creationRoute(
  common,
  newMessage,
  message,
  "El mensaje, sin respuesta: para tenerla, intelligence/conversation.",
);
const createMessage: RouteHandler<typeof createMessageRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const { chatId, content } = c.req.valid("json");
  await countAttempt(c, "message", person.id);
  const chat = await findChat(services, person, chatId);
  // An admin may read another's conversation, but not speak in it.
  if (chat.userId !== person.id) throw notFound();
  const now = Date.now();
  const row = await services.db.transaction().execute(async (trx) => {
    await refuseTextBeyondPlan(trx, person.id, content);
    const inserted = await trx
      .insertInto("messages")
      .values(messageRow(now, { chatId, userId: chat.userId, parentId: chat.leafId, content }))
      .returningAll()
      .executeTakeFirstOrThrow();
    if (!chat.sessionId) await indexText(trx, content, chat.userId, { messageId: inserted.id, chatId });
    await trx.updateTable("chats").set({ leafId: inserted.id, lastMessageAt: now }).where("id", "=", chatId).execute();
    return inserted;
  });
  return c.json(await showOne(services.db, row, person), 201);
};

const readMessageRoute = itemRoute(common, message, "El mensaje.");
const readMessage: RouteHandler<typeof readMessageRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  return c.json(await showOne(services.db, await seeMessage(c, c.req.valid("param").id), person), 200);
};

const changeMessageRoute = changeRoute("patch", common, messageChange, message, "El mensaje, cambiado.");
const changeMessage: RouteHandler<typeof changeMessageRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const row = await findMessage(services, person, c.req.valid("param").id);
  // A text of somebody else's is changed only by people who may read it.
  await seeChat(c, row.chatId);
  refuseStale(c, row, await showOne(services.db, row, person));
  if (row.status === "streaming") throw invalid("content", "Esta respuesta aún se está escribiendo; detenla antes.");
  const { content } = c.req.valid("json");
  const chat = await findChat(services, person, row.chatId);
  if (!chat.sessionId) await refuseOnHold(services.db, person, row.userId);
  await countAttempt(c, "message", person.id);
  const changed = await services.db.transaction().execute(async (trx) => {
    await refuseTextBeyondPlan(trx, row.userId, content, row.content);
    await trx.deleteFrom("passages").where("messageId", "=", row.id).execute();
    if (!chat.sessionId) await indexText(trx, content, row.userId, { messageId: row.id, chatId: row.chatId });
    // Use the transaction's handle: on SQLite any other connection would deadlock with it.
    const current = async () => showOne(trx, await findMessage({ ...services, db: trx }, person, row.id), person);
    const written = await storeChange(c, trx, "messages", row, { content, edited: 1, updatedAt: Date.now() }, current);
    // Positions in the old text mean nothing in the new text: all parts now stand before it.
    await trx.updateTable("parts").set({ at: 0 }).where("messageId", "=", row.id).execute();
    // Shares that end in this message follow the edit, as they do for earlier messages.
    await trx
      .updateTable("shares")
      .set({ leafLength: content.length })
      .where("leafId", "=", row.id)
      .where("leafLength", "is not", null)
      .execute();
    await auditOthers(trx, c, row.userId, "update", "message", row.id, {
      before: { characters: row.content.length },
      after: { characters: content.length },
    });
    return written;
  });
  return c.json(await showOne(services.db, changed, person), 200);
};

const deleteMessageRoute = deletionRoute(common, "El mensaje y lo que le seguía ya no existen.");
const deleteMessage: RouteHandler<typeof deleteMessageRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const row = await findMessage(services, person, c.req.valid("param").id);
  await refuseOnHold(services.db, person, row.userId);
  await stopReplies(services, { chatId: row.chatId });
  await services.db.transaction().execute(async (trx) => {
    const { rows: below } = await sql<{ id: string }>`
          with recursive below as (
            select id from messages where id = ${row.id}
            union all
            select m.id from messages m join below b on m."parentId" = b.id
          ) select id from below`.execute(trx);
    const ids = below.map((gone) => gone.id);
    await trx
      .updateTable("chats")
      .set({ leafId: row.parentId })
      .where("id", "=", row.chatId)
      .where("leafId", "in", ids)
      .execute();
    await (row.parentId
      ? trx.updateTable("shares").set({ leafId: row.parentId, leafLength: null }).where("leafId", "in", ids).execute()
      : trx.deleteFrom("shares").where("leafId", "in", ids).execute());
    await trx.deleteFrom("messages").where("id", "in", ids).execute();
    const before = { characters: row.content.length };
    await auditOthers(trx, c, row.userId, "delete", "message", row.id, { before });
  });
  return c.body(null, 204);
};

export const messages = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(listMessagesRoute, listMessages)
  .openapi(createMessageRoute, createMessage)
  .openapi(readMessageRoute, readMessage)
  .openapi(changeMessageRoute, changeMessage)
  .openapi(deleteMessageRoute, deleteMessage);
