import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { sql } from "kysely";
import { v7 as newId } from "uuid";
import type { Db, Trx } from "../../../db/engine.server.ts";
import { chatRow, messageRow, newRow } from "../../../db/rows.server.ts";
import { indexText } from "../../../db/search/passages.server.ts";
import type { ChatRow, MessageRow } from "../../../db/tables.ts";
import { refuseTextBeyondPlan } from "../../../replies/start.server.ts";
import type { ApiEnv } from "../../env.server.ts";
import { active, signedIn } from "../../http/authentication.server.ts";
import { answerInvalid, invalid } from "../../http/problem.server.ts";
import { publishes } from "../../http/publish-change.server.ts";
import { countAttempt } from "../../http/rate-limit.server.ts";
import { answers, bearer, idParam } from "../../http/schemas.server.ts";
import { seeChat, writesInProject } from "../../http/visibility.server.ts";

// Messages stored at once, and the most messages that are copied: the last ones of the branch.
const atOnce = 50;
const copiedAtMost = 2_000;

/** «Continuar en una copia»: copies a chat that a person may read into a chat of their own, in which they go on. */
export const chatCopies = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(
  createRoute({
    method: "post",
    path: "/{id}/copy",
    security: bearer,
    middleware: [signedIn, active, publishes("chat")],
    request: { params: idParam },
    responses: {
      201: answers(
        z.object({ id: z.string() }),
        "El chat nuevo, con los textos de la rama visible; de los archivos adjuntos, los nombres.",
      ),
    },
  }),
  async (c) => {
    const { person, services } = c.var;
    const chat = await seeChat(c, c.req.valid("param").id);
    if (chat.sessionId) throw invalid("id", "Una conversación temporal no se copia: se borra con la sesión.");
    await countAttempt(c, "message", person.id);
    const messages = await branchToCopy(services.db, chat);
    if (messages.length === 0) throw invalid("id", "La conversación todavía no tiene mensajes.");
    await refuseTextBeyondPlan(services.db, person.id, messages.map(({ content }) => content).join(""));
    const staysIn = chat.projectId && (await writesInProject(services, person, chat.projectId));
    const copy = chatRow(Date.now(), {
      userId: person.id,
      title: chat.title,
      titled: 1,
      projectId: staysIn ? chat.projectId : null,
      modelId: chat.modelId,
    });
    await services.db.insertInto("chats").values(copy).execute();
    try {
      await copyMessages(services.db, copy, messages);
    } catch (error) {
      await services.db.deleteFrom("chats").where("id", "=", copy.id).execute();
      throw error;
    }
    return c.json({ id: copy.id }, 201);
  },
);

/** The branch that is shown, from its beginning to its end; without a reply that is still being written. */
async function branchToCopy(db: Db, chat: ChatRow): Promise<MessageRow[]> {
  if (!chat.leafId) return [];
  const { rows } = await sql<MessageRow>`
    with recursive branch as (
      select m.*, 0 as depth from messages m where m.id = ${chat.leafId} and m."chatId" = ${chat.id}
      union all
      select m.*, b.depth + 1 from messages m join branch b on m.id = b."parentId" where b.depth < ${copiedAtMost - 1}
    ) select * from branch order by depth desc`.execute(db);
  return rows.filter(({ status }) => status !== "streaming" && status !== "waiting");
}

async function copyMessages(db: Db, copy: ChatRow, messages: MessageRow[]): Promise<void> {
  const ids = messages.map(() => newId());
  for (let at = 0; at < messages.length; at += atOnce) {
    await db.transaction().execute(async (trx) => {
      for (const [offset, message] of messages.slice(at, at + atOnce).entries()) {
        const place = at + offset;
        const { role, content, status, modelId, error, createdAt, finishedAt } = message;
        const given = { role, content, status, modelId, error, finishedAt };
        const row = messageRow(createdAt, {
          id: ids[place] ?? newId(),
          chatId: copy.id,
          userId: copy.userId,
          parentId: ids[place - 1] ?? null,
          // A copied reply loses the sources and calls that it had read, so it counts as text from outside.
          outside: role === "user" && message.userId === copy.userId ? message.outside : 1,
          ...given,
        });
        await trx.insertInto("messages").values(row).execute();
        await indexText(trx, content, copy.userId, { messageId: row.id, chatId: copy.id });
        await copyNames(trx, message.id, row.id);
      }
    });
    // SQLite runs synchronously; this lets other requests run in between.
    await new Promise(setImmediate);
  }
  await db
    .updateTable("chats")
    .set({ leafId: ids.at(-1) ?? null })
    .where("id", "=", copy.id)
    .execute();
}

/** Copies only the names of the files, as the files are another person's: they show like files that were deleted. */
async function copyNames(trx: Trx, from: string, to: string): Promise<void> {
  const rows = await trx.selectFrom("attachments").where("messageId", "=", from).selectAll().execute();
  const now = Date.now();
  const names = rows.map(({ name, mediaType, position }) => ({
    ...newRow(now),
    messageId: to,
    fileId: null,
    name,
    mediaType,
    position,
  }));
  if (names.length > 0) await trx.insertInto("attachments").values(names).execute();
}
