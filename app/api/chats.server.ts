import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { v7 as newId } from "uuid";
import type { ChatRow } from "../db/tables.ts";
import { limits } from "../limits.ts";
import { findChat, stopReplies } from "./access.server.ts";
import { auditOthers } from "./audit.server.ts";
import { active, signedIn } from "./authentication.server.ts";
import { branchOf, turn } from "./branch.server.ts";
import type { ApiEnv, Services } from "./env.server.ts";
import { contains, listOf, listPage, listQuery } from "./list.server.ts";
import { answerInvalid, invalid } from "./problem.server.ts";
import { answers, bearer, draft, flag, id, idParam, iso, parseDraft, takes, text } from "./schemas.server.ts";
import { ifUnchanged, refuseStale, stale } from "./versions.server.ts";

export const chat = z
  .object({
    id: z.string(),
    createdAt: z.string(),
    updatedAt: z.string(),
    userId: z.string(),
    projectId: z.string().nullable(),
    modelId: z.string().nullable(),
    title: z.string(),
    titled: z
      .boolean()
      .openapi({ description: "Si ya tiene nombre; hasta entonces, el título son sus primeras palabras." }),
    pinned: z.boolean(),
    archived: z.boolean(),
    lastMessageAt: z.string(),
    temporary: z.boolean().openapi({ description: "Se borra con la sesión en la que empezó." }),
    draft,
  })
  .openapi("Chat");

const title = text("El título", limits.chatTitle, 1);
const newChat = z.strictObject({
  title: title.default("Nueva conversación"),
  projectId: id.nullable().default(null),
  modelId: id.nullable().default(null),
});
const chatChange = z.strictObject({
  title: title.optional(),
  pinned: flag.optional(),
  archived: flag.optional(),
  projectId: id.nullable().optional(),
  modelId: id.nullable().optional(),
  draft: draft.optional(),
});

const showChat = (row: ChatRow): z.output<typeof chat> => ({
  id: row.id,
  createdAt: iso(row.createdAt),
  updatedAt: iso(row.updatedAt),
  userId: row.userId,
  projectId: row.projectId,
  modelId: row.modelId,
  title: row.title,
  titled: row.titled === 1,
  pinned: row.pinned === 1,
  archived: row.archived === 1,
  lastMessageAt: iso(row.lastMessageAt),
  temporary: row.sessionId !== null,
  draft: parseDraft(row.draft),
});

/** Throws 422 where a body refers to a project or model that isn't there for this person. */
async function checkReferences(
  { db }: Services,
  ownerId: string,
  given: { projectId?: string | null | undefined; modelId?: string | null | undefined },
): Promise<void> {
  if (given.projectId) {
    const project = await db
      .selectFrom("projects")
      .where("id", "=", given.projectId)
      .where("userId", "=", ownerId)
      .select("id")
      .executeTakeFirst();
    if (!project) throw invalid("projectId", "Ese proyecto no existe.");
  }
  if (given.modelId) {
    const model = await db.selectFrom("models").where("id", "=", given.modelId).select("id").executeTakeFirst();
    if (!model) throw invalid("modelId", "Ese modelo no existe.");
  }
}

const common = { security: bearer, middleware: [signedIn, active] };

export const chats = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(
    createRoute({
      method: "get",
      path: "/",
      ...common,
      request: { query: listQuery },
      responses: { 200: answers(listOf(chat), "Los chats de la persona; para administradores, todos.") },
    }),
    async (c) => {
      const { person, services } = c.var;
      const query = c.req.valid("query");
      const visible = services.db
        .selectFrom("chats")
        .selectAll("chats")
        .where("chats.sessionId", "is", null)
        .$if(person.role !== "admin", (q) => q.where("chats.userId", "=", person.id))
        .$if(Boolean(query.q), (q) => q.where(contains("chats.title", query.q ?? "")));
      const { rows, ...rest } = await listPage(services.db, visible, query, {
        table: "chats",
        sortable: [
          { column: "lastMessageAt", direction: "desc" },
          { column: "title", direction: "asc" },
          { column: "createdAt", direction: "desc" },
        ],
        filters: { userId: "text", projectId: "text", modelId: "text", pinned: "flag", archived: "flag" },
      });
      return c.json({ items: rows.map(showChat), ...rest }, 200);
    },
  )
  .openapi(
    createRoute({
      method: "post",
      path: "/",
      ...common,
      request: { body: takes(newChat) },
      responses: { 201: answers(chat, "El chat nuevo.") },
    }),
    async (c) => {
      const { person, services } = c.var;
      const given = c.req.valid("json");
      await checkReferences(services, person.id, given);
      const now = Date.now();
      const row: ChatRow = {
        id: newId(),
        createdAt: now,
        updatedAt: now,
        userId: person.id,
        ...given,
        titled: 0,
        pinned: 0,
        archived: 0,
        lastMessageAt: now,
        draft: null,
        leafId: null,
        sessionId: null,
      };
      await services.db.insertInto("chats").values(row).execute();
      return c.json(showChat(row), 201);
    },
  )
  .openapi(
    createRoute({
      method: "get",
      path: "/{id}",
      ...common,
      request: { params: idParam },
      responses: { 200: answers(chat, "El chat.") },
    }),
    async (c) => c.json(showChat(await findChat(c.var.services, c.var.person, c.req.valid("param").id)), 200),
  )
  .openapi(
    createRoute({
      method: "patch",
      path: "/{id}",
      ...common,
      request: { params: idParam, body: takes(chatChange) },
      responses: { 200: answers(chat, "El chat, cambiado.") },
    }),
    async (c) => {
      const { person, services } = c.var;
      const row = await findChat(services, person, c.req.valid("param").id);
      refuseStale(c, row, showChat(row));
      // Whoever changes it, a chat's project is its owner's.
      const { draft: unsent, pinned, archived, ...given } = c.req.valid("json");
      await checkReferences(services, row.userId, given);
      const changed = await services.db
        .updateTable("chats")
        .set({
          ...given,
          ...(given.title !== undefined && { titled: 1 }),
          ...(pinned !== undefined && { pinned: pinned ? 1 : 0 }),
          ...(archived !== undefined && { archived: archived ? 1 : 0 }),
          ...(unsent !== undefined && { draft: unsent && JSON.stringify(unsent) }),
          updatedAt: Date.now(),
        })
        .where("id", "=", row.id)
        .$call(ifUnchanged(c, row))
        .returningAll()
        .executeTakeFirst();
      if (!changed) throw stale(showChat(await findChat(services, person, row.id)));
      const changes = { before: showChat(row), after: showChat(changed) };
      await auditOthers(services.db, c, row.userId, {
        action: "update",
        resource: "chat",
        resourceId: row.id,
        changes,
      });
      return c.json(showChat(changed), 200);
    },
  )
  .openapi(
    createRoute({
      method: "delete",
      path: "/{id}",
      ...common,
      request: { params: idParam },
      responses: { 204: { description: "El chat y sus mensajes ya no existen." } },
    }),
    async (c) => {
      const { person, services } = c.var;
      const row = await findChat(services, person, c.req.valid("param").id);
      const { id: chatId } = row;
      await stopReplies(services, chatId);
      await services.db.deleteFrom("chats").where("id", "=", chatId).execute();
      await auditOthers(services.db, c, row.userId, {
        action: "delete",
        resource: "chat",
        resourceId: chatId,
        changes: { before: showChat(row) },
      });
      return c.body(null, 204);
    },
  )
  .openapi(
    createRoute({
      method: "get",
      path: "/{id}/messages",
      ...common,
      request: {
        params: idParam,
        query: z.object({
          through: id.optional().openapi({ description: "La rama que pasa por este mensaje." }),
          around: id.optional().openapi({ description: "La parte de su rama en la que está este mensaje." }),
          before: id.optional().openapi({ description: "Solo lo anterior a este mensaje de la rama." }),
        }),
      },
      responses: {
        200: answers(
          z.object({ items: z.array(turn), hasEarlier: z.boolean(), hasLater: z.boolean() }),
          "La rama visible de un chat, del mensaje más antiguo al más nuevo.",
        ),
      },
    }),
    async (c) => {
      const { person, services } = c.var;
      const row = await findChat(services, person, c.req.valid("param").id);
      return c.json(await branchOf(services.db, row, c.req.valid("query")), 200);
    },
  );
