import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { sql } from "kysely";
import { moveArtifacts } from "../../artifacts/artifacts.server.ts";
import { deleteMessages } from "../../db/delete-messages.server.ts";
import type { Db } from "../../db/engine.server.ts";
import { inProjectOf } from "../../db/people/shared-work.server.ts";
import { prepared } from "../../db/prepared.server.ts";
import { chatRow } from "../../db/rows.server.ts";
import type { ChatRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import { recordOf, textsIn } from "../../process/text/json.ts";
import { withoutMarks } from "../../process/text/without-marks.ts";
import { parseQueued, takeQueued } from "../../replies/queue.server.ts";
import type { ApiEnv, Person, Services } from "../env.server.ts";
import { auditOthers } from "../http/audit.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { contains, listPage } from "../http/list.server.ts";
import { answerInvalid, invalid, notFound } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { changeRoute, creationRoute, deletionRoute, itemRoute, listRoute } from "../http/resource-routes.server.ts";
import {
  answers,
  bearer,
  draft,
  flag,
  flagsOf,
  id,
  idParam,
  iso,
  parseDraft,
  rowFields,
  text,
  timesOf,
} from "../http/schemas.server.ts";
import { refuseStale, storeChange } from "../http/stored-rows.server.ts";
import { findChat, lookUpChat, seeChat, stopReplies, writesInProject } from "../http/visibility.server.ts";
import { mayReadChat, readableChats, searchesOthers, unnamed } from "../inspections/inspect.server.ts";
import { refuseOnHold } from "../retention/holds.server.ts";
import { branchOf, leafBelow, turn } from "./branch.server.ts";
import { parseCompared } from "./compared.server.ts";

export const chat = z
  .object({
    ...rowFields,
    userId: z.string(),
    projectId: z.string().nullable(),
    modelId: z.string().nullable(),
    assistantId: z.string().nullable(),
    title: z.string(),
    titled: z
      .boolean()
      .openapi({ description: "Si ya tiene nombre; hasta entonces, el título son sus primeras palabras." }),
    pinned: z.boolean(),
    archived: z.boolean(),
    lastMessageAt: z.string(),
    temporary: z.boolean().openapi({ description: "Se borra con la sesión en la que empezó." }),
    draft,
    queued: z
      .object({
        content: z.string(),
        fileIds: z.array(z.string()),
        problem: z.string().nullable().openapi({ description: "Por qué no se ha podido enviar." }),
      })
      .nullable()
      .openapi({ description: "Lo que se enviará cuando acabe la respuesta que se está escribiendo." }),
    compared: z
      .object({
        parentId: z.string(),
        modelIds: z.array(z.string()),
        problem: z.string().nullable().openapi({ description: "Por qué el siguiente no ha podido empezar." }),
      })
      .nullable()
      .openapi({ description: "Los modelos que faltan por contestar a un mensaje, uno tras otro." }),
    toolsOff: z
      .array(z.string())
      .openapi({ description: "Las herramientas que aquí no se ofrecen, por su identificador." }),
  })
  .openapi("Chat");
const listedChat = chat
  .extend({ extract: z.string().openapi({ description: "Cómo empieza su último mensaje." }) })
  .openapi("ListedChat");

const title = text("El título", limits.chatTitle, 1);
const newTitle = "Nueva conversación";
const newChat = z.strictObject({
  title: title.default(newTitle),
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
  queued: z
    .null("queued solo puede ser null.")
    .optional()
    .openapi({ example: null, description: "null: lo que espera no se envía; si ya se ha enviado, se rechaza." }),
  toolsOff: z.array(id, "toolsOff tiene que ser una lista.").max(200, "Son demasiadas herramientas.").optional(),
  versionId: id.optional().openapi({ description: "La versión de un mensaje con la que se sigue, y con su modelo." }),
  asksAgain: z
    .literal(true, "asksAgain solo puede ser true.")
    .optional()
    .openapi({ description: "Vuelve a preguntarse por lo que se permitió en esta conversación." }),
});

/** `reader`: only the author of a chat sees its unsent messages. `isReadable`: whether the reader may read the chat's texts. */
const showChat = (
  row: ChatRow,
  reader: Pick<Person, "id">,
  isReadable = row.userId === reader.id,
): z.output<typeof chat> => ({
  id: row.id,
  ...timesOf(row),
  userId: row.userId,
  projectId: row.projectId,
  modelId: row.modelId,
  assistantId: row.assistantId,
  title: isReadable || row.titled === 1 ? row.title : unnamed,
  ...flagsOf(row, "titled", "pinned", "archived"),
  lastMessageAt: iso(row.lastMessageAt),
  temporary: row.sessionId !== null,
  draft: row.userId === reader.id ? parseDraft(row.draft) : null,
  queued: row.userId === reader.id ? showQueued(row) : null,
  compared: row.userId === reader.id ? showCompared(row) : null,
  toolsOff: textsIn(row.toolsOff ?? "[]"),
});

function showCompared(row: ChatRow): z.output<typeof chat>["compared"] {
  const compared = parseCompared(row.compared);
  return compared && { parentId: compared.parentId, modelIds: compared.modelIds, problem: compared.problem ?? null };
}

function showQueued(row: ChatRow): z.output<typeof chat>["queued"] {
  const queued = parseQueued(row.queued);
  return queued && { content: queued.content, fileIds: queued.fileIds, problem: queued.problem ?? null };
}

// In characters: more than a line of a list shows.
const extractLength = 200;

/** Excerpts of the last messages of chats, by message id. */
async function extractsOf({ db }: Services, chats: ChatRow[]): Promise<Map<string | null, string>> {
  const ids = chats.flatMap(({ leafId }) => leafId ?? []);
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom("messages")
    .where("id", "in", ids)
    .select(["id", sql<string>`substr(content, 1, ${sql.lit(extractLength)})`.as("begins")])
    .execute();
  return new Map(rows.map(({ id: leafId, begins }) => [leafId, withoutMarks(begins)]));
}

/** Throws 422 if the body refers to a project in which this person can't write, or to a model that is not there. */
async function checkReferences(
  services: Services,
  owner: Person,
  given: { projectId?: string | null | undefined; modelId?: string | null | undefined },
): Promise<void> {
  const { db } = services;
  if (given.projectId && !(await writesInProject(services, owner, given.projectId))) {
    throw invalid("projectId", "Ese proyecto no existe.");
  }
  if (given.modelId) {
    const model = await db.selectFrom("models").where("id", "=", given.modelId).select("id").executeTakeFirst();
    if (!model) throw invalid("modelId", "Ese modelo no existe.");
  }
}

const common = { security: bearer, middleware: [signedIn, active, publishes("chat")] };

/** Whether a list is asked for by project. A filter that can't be read is refused where it is used. */
function isOfProject(filter: string | undefined): boolean {
  try {
    return typeof recordOf(JSON.parse(filter ?? "{}"))?.projectId === "string";
  } catch {
    return false;
  }
}

const listChatsRoute = listRoute(common, listedChat, "Los chats de la persona; para administradores, todos.");
const listChats: RouteHandler<typeof listChatsRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const query = c.req.valid("query");
  const visible = services.db
    .selectFrom("chats")
    .selectAll("chats")
    .where("chats.sessionId", "is", null)
    .$if(person.role !== "admin", (q) =>
      // A project's list has the chats of all its members; any other list has the person's own chats.
      isOfProject(query.filter)
        ? q.where(inProjectOf("chats.projectId", person.id))
        : q.where("chats.userId", "=", person.id),
    )
    .where(contains("chats.title", query.q))
    .$if(query.q !== "" && person.role === "admin" && !searchesOthers(c), (q) =>
      q.where((e) => e.or([e("chats.userId", "=", person.id), e("chats.titled", "=", 1)])),
    );
  const { rows, ...rest } = await listPage(services.db, visible, query, {
    table: "chats",
    sortable: [
      { number: "lastMessageAt", direction: "desc" },
      { text: "title", direction: "asc" },
      { number: "createdAt", direction: "desc" },
    ],
    filters: { userId: "text", projectId: "text", modelId: "text", pinned: "flag", archived: "flag" },
  });
  const readable = await readableChats(
    c,
    rows.map(({ id: chatId }) => chatId),
  );
  const extracts = await extractsOf(
    services,
    rows.filter((row) => readable.has(row.id)),
  );
  const items = rows.map((row) => ({
    ...showChat(row, person, readable.has(row.id)),
    extract: extracts.get(row.leafId) ?? "",
  }));
  return c.json({ items, ...rest }, 200);
};

const createChatRoute = creationRoute(common, newChat, chat, "El chat nuevo.");
const createChat: RouteHandler<typeof createChatRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const given = c.req.valid("json");
  await checkReferences(services, person, given);
  const titled = given.title === newTitle ? 0 : 1;
  const row = chatRow(Date.now(), { userId: person.id, ...given, titled });
  await services.db.insertInto("chats").values(row).execute();
  return c.json(showChat(row, person), 201);
};

const openChat = chat
  .extend({ ownerName: z.string().openapi({ description: "De quién es: solo esa persona escribe en él." }) })
  .openapi("OpenChat");
const readChatRoute = itemRoute(common, openChat, "El chat.");
const readChat: RouteHandler<typeof readChatRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const row = await lookUpChat(services, person, c.req.valid("param").id);
  const isReadable = row.titled === 1 || (await mayReadChat(c, row.id));
  return c.json(await showOpenChat(services, person, row, isReadable), 200);
};

async function showOpenChat(
  { db }: Services,
  person: Person,
  row: ChatRow,
  isReadable = true,
): Promise<z.output<typeof openChat>> {
  const [owner] = (await findOwner(db, row)).rows;
  if (!owner) throw notFound();
  return { ...showChat(row, person, isReadable), ownerName: owner.name };
}

const findOwner = prepared((db, { userId }: Pick<ChatRow, "userId">) =>
  db.selectFrom("users").where("id", "=", userId).select("name"),
);

const changeChatRoute = changeRoute("patch", common, chatChange, chat, "El chat, cambiado.");
const changeChat: RouteHandler<typeof changeChatRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const row = await findChat(services, person, c.req.valid("param").id);
  refuseStale(c, row, showChat(row, person));
  const { draft: unsent, asksAgain, versionId, ...given } = c.req.valid("json");
  if (row.userId !== person.id) {
    // An admin who moved the chat into one of their own projects could read it there.
    if (given.projectId) throw invalid("projectId", "Solo la mueve quien la ha escrito.");
    if (unsent !== undefined) throw invalid("draft", "Solo escribe en ella quien la ha empezado.");
    if (given.queued !== undefined) throw invalid("queued", "Solo lo quita quien lo ha escrito.");
    if (versionId !== undefined) throw invalid("versionId", "Solo la elige quien la ha escrito.");
  }
  await checkReferences(services, person, given);
  const changed = await services.db.transaction().execute(async (trx) => {
    // A queued message that has just been sent must not stand in a draft as well.
    if (given.queued === null) await takeQueued(trx, row.id);
    if (asksAgain) await trx.deleteFrom("grants").where("chatId", "=", row.id).execute();
    const columns = {
      ...(versionId !== undefined && (await versionOf(trx, row.id, versionId))),
      ...given,
      ...(given.title !== undefined && { titled: true }),
      ...(unsent !== undefined && { draft: unsent && JSON.stringify(unsent) }),
      updatedAt: Date.now(),
    };
    const current = async () => showChat(await findChat({ ...services, db: trx }, person, row.id), person);
    const after = await storeChange(c, trx, "chats", row, columns, current);
    if (after.projectId !== row.projectId) await moveArtifacts(trx, row, after.projectId);
    const changes = { before: showChat(row, person), after: showChat(after, person) };
    await auditOthers(trx, c, row.userId, "update", "chat", row.id, changes);
    return after;
  });
  return c.json(showChat(changed, person), 200);
};

/** End of the branch below a message, and the model that has written it, for a chat to go on with. Throws 404. */
async function versionOf(db: Db, chatId: string, messageId: string) {
  const leafId = await leafBelow(db, chatId, messageId);
  const { modelId } = await db
    .selectFrom("messages")
    .where("id", "=", leafId)
    .select("modelId")
    .executeTakeFirstOrThrow(notFound);
  return { leafId, ...(modelId && { modelId }) };
}

const deleteChatRoute = deletionRoute(common, "El chat y sus mensajes ya no existen.");
const deleteChat: RouteHandler<typeof deleteChatRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const row = await findChat(services, person, c.req.valid("param").id);
  const { id: chatId } = row;
  if (!row.sessionId) await refuseOnHold(services.db, person, row.userId);
  await stopReplies(services, { chatId });
  // Audited first, as the chat's messages are deleted in several steps.
  const before = showChat(row, person);
  await services.db
    .transaction()
    .execute((trx) => auditOthers(trx, c, row.userId, "delete", "chat", chatId, { before }));
  await deleteMessages(services.db, { chatId });
  if (row.sessionId) await services.db.deleteFrom("artifacts").where("chatId", "=", chatId).execute();
  await services.db.deleteFrom("chats").where("id", "=", chatId).execute();
  return c.body(null, 204);
};

const listBranchRoute = createRoute({
  method: "get",
  path: "/{id}/messages",
  ...common,
  request: {
    params: idParam,
    query: z.object({
      through: id.optional().openapi({ description: "La rama que pasa por este mensaje." }),
      around: id.optional().openapi({ description: "La parte de su rama en la que está este mensaje." }),
      before: id.optional().openapi({ description: "Solo lo anterior a este mensaje de la rama." }),
      limit: z.coerce
        .number()
        .int()
        .min(1)
        .max(limits.turnsOnPage)
        .optional()
        .openapi({ description: "Cuántos mensajes como mucho." }),
    }),
  },
  responses: {
    200: answers(
      z.object({ chat: openChat, items: z.array(turn), hasEarlier: z.boolean(), hasLater: z.boolean() }),
      "La rama visible de un chat, del mensaje más antiguo al más nuevo, y el chat.",
    ),
  },
});
const listBranch: RouteHandler<typeof listBranchRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const row = await seeChat(c, c.req.valid("param").id);
  const [shown, branch] = await Promise.all([
    showOpenChat(services, person, row),
    branchOf(services.db, row, person, c.req.valid("query")),
  ]);
  return c.json({ chat: shown, ...branch }, 200);
};

export const chats = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(listChatsRoute, listChats)
  .openapi(createChatRoute, createChat)
  .openapi(readChatRoute, readChat)
  .openapi(changeChatRoute, changeChat)
  .openapi(deleteChatRoute, deleteChat)
  .openapi(listBranchRoute, listBranch);
