import { randomBytes } from "node:crypto";
import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { v7 as newId } from "uuid";
import type { Db } from "../../../db/engine.server.ts";
import type { MessageStatus, ShareRow } from "../../../db/tables.ts";
import { objectOf } from "../../../process/text/json.ts";
import type { ApiEnv, Services } from "../../env.server.ts";
import { answerContent, variant } from "../../files/files.server.ts";
import { auditOthers } from "../../http/audit.server.ts";
import { active, noProgram, signedIn } from "../../http/authentication.server.ts";
import { answerInvalid, invalid, notFound } from "../../http/problem.server.ts";
import { publishes } from "../../http/publish-change.server.ts";
import { answers, bearer, bytes, flag, id, idParam, iso } from "../../http/schemas.server.ts";
import { findChat, openChat } from "../../http/visibility.server.ts";
import { branchOf, leadsTo, leafBelow } from "../branch.server.ts";
import { attachment } from "../message-fields.server.ts";

const share = z
  .object({
    token: z.string(),
    updatedAt: z.string(),
    upToDate: z.boolean().openapi({ description: "Si llega hasta el último mensaje del chat." }),
    files: z.boolean().openapi({ description: "Si se ven también los archivos adjuntos." }),
  })
  .openapi("Share");
const newShare = z
  .strictObject({
    files: flag.default(false),
    version: id
      .optional()
      .openapi({ description: "Un mensaje de la versión que se comparte; sin él, la que se escribió la última." }),
  })
  .openapi({ example: { files: true } });
const sharedMessage = z.object({
  id: z.string(),
  role: z.enum(["user", "assistant", "system"]),
  model: z.string().nullable(),
  content: z.string(),
  createdAt: z.string(),
  attachments: z.array(attachment),
  images: z
    .array(
      z.object({ fileId: z.string(), alt: z.string(), width: z.number().nullable(), height: z.number().nullable() }),
    )
    .openapi({ description: "Las que se han hecho en una respuesta." }),
  withoutFiles: z.boolean().openapi({ description: "Si tiene archivos o imágenes que no se comparten." }),
});
const shared = z
  .object({
    title: z.string(),
    sharedAt: z.string(),
    aiNotice: z.string().openapi({ description: "Lo que avisa de que contesta una inteligencia artificial." }),
    items: z.array(sharedMessage),
    hasEarlier: z.boolean(),
  })
  .openapi("Shared");

type Reach = Pick<ShareRow, "leafId" | "leafLength">;

const own = { path: "/{id}/share" as const, security: bearer };
const changes = { ...own, middleware: [signedIn, noProgram, active, publishes("chat")] };

const findShare = (c: Context<ApiEnv>, chatId: string) =>
  c.var.services.db.selectFrom("shares").where("chatId", "=", chatId).selectAll().executeTakeFirst();

/** The last message of a chat, or null. */
const leafOf = async ({ db }: Services, { leafId }: { leafId: string | null }) =>
  leafId === null
    ? null
    : db.selectFrom("messages").where("id", "=", leafId).select(["id", "content", "status"]).executeTakeFirstOrThrow();

function show({ token, updatedAt, leafId, leafLength, files }: ShareRow, leaf: { id: string; content: string } | null) {
  const upToDate = leafId === leaf?.id && (leafLength ?? leaf.content.length) === leaf.content.length;
  return { token, updatedAt: iso(updatedAt), upToDate, files: files === 1 };
}

const showShareRoute = createRoute({
  method: "get",
  ...own,
  middleware: [signedIn, active],
  request: { params: idParam },
  responses: { 200: answers(share.nullable(), "El enlace del chat; null si no se comparte.") },
});
const showShare: RouteHandler<typeof showShareRoute, ApiEnv> = async (c) => {
  // The link opens the chat, so `openChat` decides who gets it.
  const chat = await openChat(c, c.req.valid("param").id);
  const row = await findShare(c, chat.id);
  return c.json(row ? show(row, await leafOf(c.var.services, chat)) : null, 200);
};

const shareChatRoute = createRoute({
  method: "put",
  ...changes,
  request: {
    params: idParam,
    body: { content: { "application/json": { schema: newShare } }, description: "Sin él, no van los archivos." },
  },
  responses: { 200: answers(share, "El enlace, hasta el último mensaje de ahora.") },
});
const shareChat: RouteHandler<typeof shareChatRoute, ApiEnv> = async (c) => {
  const { db } = c.var.services;
  const chat = await findChat(c.var.services, c.var.person, c.req.valid("param").id);
  // An admin may read a chat and end its sharing; only who wrote it makes it public.
  if (chat.userId !== c.var.person.id) throw notFound();
  if (chat.sessionId) throw invalid("id", "Una conversación temporal no se comparte: se borra con la sesión.");
  const { files, version } = c.req.valid("json");
  const leafId = version === undefined ? chat.leafId : await leafBelow(db, chat.id, version);
  const leaf = await leafOf(c.var.services, { leafId });
  if (!leaf) throw invalid("id", "La conversación todavía no tiene mensajes.");
  const now = Date.now();
  const reach = {
    leafId: leaf.id,
    leafLength: leaf.status === "streaming" ? null : leaf.content.length,
    files: files ? (1 as const) : (0 as const),
    updatedAt: now,
  };
  await db
    .insertInto("shares")
    .values({
      id: newId(),
      createdAt: now,
      chatId: chat.id,
      token: randomBytes(18).toString("base64url"),
      ...reach,
    })
    .onConflict((conflict) => conflict.column("chatId").doUpdateSet(reach))
    .execute();
  const row = await findShare(c, chat.id);
  if (!row) throw notFound();
  return c.json(show(row, leaf), 200);
};

const endShareRoute = createRoute({
  method: "delete",
  ...changes,
  request: { params: idParam },
  responses: { 204: { description: "El enlace ya no vale." } },
});
const endShare: RouteHandler<typeof endShareRoute, ApiEnv> = async (c) => {
  const chat = await findChat(c.var.services, c.var.person, c.req.valid("param").id);
  await c.var.services.db.transaction().execute(async (trx) => {
    await trx.deleteFrom("shares").where("chatId", "=", chat.id).execute();
    await auditOthers(trx, c, chat.userId, "delete", "share", chat.id);
  });
  return c.body(null, 204);
};

/** The share of a chat: its owner creates, updates and removes it. */
export const chatShares = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(showShareRoute, showShare)
  .openapi(shareChatRoute, shareChat)
  .openapi(endShareRoute, endShare);

const tokenParam = z.object({ token: id.openapi({ param: { name: "token", in: "path" } }) });

const readShareRoute = createRoute({
  method: "get",
  path: "/{token}",
  request: { params: tokenParam, query: z.object({ before: id.optional() }) },
  responses: { 200: answers(shared, "El chat compartido, del mensaje más antiguo al más nuevo.") },
});
const readShare: RouteHandler<typeof readShareRoute, ApiEnv> = async (c) => {
  const { db } = c.var.services;
  const row = await findShared(db, c.req.valid("param").token);
  const { before } = c.req.valid("query");
  if (before && !(await leadsTo(db, before, row.leafId))) throw notFound();
  const page = await branchOf(db, { id: row.chatId, leafId: row.leafId }, null, { before });
  const models = await db.selectFrom("models").select(["id", "name"]).execute();
  const items = page.items
    .map((message) => ({ ...message, content: sharedText(message, row) }))
    .map(({ id: messageId, role, modelId, content, createdAt, attachments, parts, status }) => {
      const files = attachments.filter(({ fileId }) => fileId !== null);
      const made = status === "streaming" ? [] : parts.filter((part) => part.kind === "image");
      return {
        id: messageId,
        role,
        model: models.find((model) => model.id === modelId)?.name ?? null,
        content,
        createdAt,
        attachments: row.files ? files : [],
        images: row.files ? made.map(({ fileId, alt, width, height }) => ({ fileId, alt, width, height })) : [],
        withoutFiles: !row.files && files.length + made.length > 0,
      };
    })
    .filter(({ content, attachments, images, withoutFiles }) =>
      Boolean(content || attachments.length > 0 || images.length > 0 || withoutFiles),
    );
  const { aiNotice } = c.var.services.config;
  return c.json({ title: row.title, sharedAt: iso(row.updatedAt), aiNotice, items, hasEarlier: page.hasEarlier }, 200);
};

const readSharedFileRoute = createRoute({
  method: "get",
  path: "/{token}/file/{id}",
  request: { params: tokenParam.extend(idParam.shape), query: z.object({ variant }) },
  responses: {
    200: {
      content: { "*/*": { schema: bytes } },
      description: "Un archivo adjunto al chat compartido, si se comparten.",
    },
    304: { description: "El mismo que ya se tiene." },
  },
});
const readSharedFile: RouteHandler<typeof readSharedFileRoute, ApiEnv> = async (c) => {
  const { services } = c.var;
  const { token, id: fileId } = c.req.valid("param");
  const row = await findShared(services.db, token);
  if (!row.files) throw notFound();
  const file = await attachedTo(services.db, row, fileId);
  return answerContent(c, file, c.req.valid("query").variant);
};

/** A shared chat, for anyone with its link: messages up to the moment of sharing, nothing about the owner. */
export const shares = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(readShareRoute, readShare)
  .openapi(readSharedFileRoute, readSharedFile);

/** The shared part of a message. A reply that was being written at the time is shown once it is complete. */
function sharedText(message: { id: string; status: MessageStatus; content: string }, share: Reach): string {
  if (message.id === share.leafId && share.leafLength !== null) return message.content.slice(0, share.leafLength);
  return message.status === "streaming" ? "" : message.content;
}

async function findShared(db: Db, token: string) {
  return db
    .selectFrom("shares")
    .innerJoin("chats", "chats.id", "shares.chatId")
    .innerJoin("users", "users.id", "chats.userId")
    .where("token", "=", token)
    .where("users.status", "=", "active")
    .select(["shares.chatId", "shares.leafId", "shares.leafLength", "shares.updatedAt", "shares.files", "chats.title"])
    .executeTakeFirstOrThrow(notFound);
}

/** A file of a message on the shared branch, or an image that was made there. Throws 404. */
async function attachedTo(db: Db, { chatId, leafId }: { chatId: string; leafId: string }, fileId: string) {
  const rows = await db
    .selectFrom("files")
    .innerJoin("attachments", "attachments.fileId", "files.id")
    .innerJoin("messages", "messages.id", "attachments.messageId")
    .where("files.id", "=", fileId)
    .where("messages.chatId", "=", chatId)
    .selectAll("files")
    .select("messages.id as messageId")
    .execute();
  for (const { messageId, ...file } of rows) if (await leadsTo(db, messageId, leafId)) return file;
  const made = await db
    .selectFrom("parts")
    .innerJoin("messages", "messages.id", "parts.messageId")
    .where("messages.chatId", "=", chatId)
    .where("parts.kind", "=", "image")
    .select(["parts.data", "messages.id as messageId"])
    .execute();
  for (const { data, messageId } of made) {
    if (objectOf(data ?? "")?.fileId !== fileId || !(await leadsTo(db, messageId, leafId))) continue;
    return db.selectFrom("files").where("id", "=", fileId).selectAll().executeTakeFirstOrThrow(notFound);
  }
  throw notFound();
}
