import { createHash } from "node:crypto";
import { extname } from "node:path";
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import pLimit from "p-limit";
import { v7 as newId } from "uuid";
import type { Db } from "../db/connection.server.ts";
import { isTaken } from "../db/errors.server.ts";
import { indexPassages } from "../db/search.server.ts";
import type { ChatRow, MessageRow } from "../db/tables.ts";
import { limits } from "../limits.ts";
import { isMultipart, readMultipart } from "../multipart.server.ts";
import { runWorker, TooMuch } from "../worker.server.ts";
import { countAttempt } from "./attempts.server.ts";
import { active, signedIn } from "./authentication.server.ts";
import type { ApiEnv } from "./env.server.ts";
import type { FoundChat, ImportAnswer } from "./import.worker.ts";
import { answerInvalid, invalid, Problem } from "./problem.server.ts";
import { answers, bearer, importKeyStart } from "./schemas.server.ts";
import { explainMultipart } from "./uploads.server.ts";

const imported = z
  .object({
    chats: z.number(),
    messages: z.number(),
    known: z.number().openapi({ description: "Los que ya se habían importado antes." }),
  })
  .openapi("Imported");

const route = {
  method: "post" as const,
  path: "/import" as const,
  security: bearer,
  responses: { 201: answers(imported, "Cuántos chats y mensajes hay de más.") },
};
const maxFields = 10;
// As many as are stored without anyone noticing a pause.
const rowsAtOnce = 40;
// One at a time: each may take half a gigabyte for a moment.
const reading = pLimit(1);

/** Marks the first message of an imported chat; no key that a program sends begins like it. */
const importKey = (origin: string) => `${importKeyStart}${origin}`;

/** Brings in conversations from the export file of Tertulia, ChatGPT or LibreChat; what was brought in before is not doubled. */
export const imports = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(
  createRoute({ ...route, middleware: [signedIn, active], hide: true }),
  async (c) => {
    const { person, services } = c.var;
    await countAttempt(c, "import", person.id);
    if (!isMultipart(c.req.raw)) throw new Problem(415, "El archivo se envía como multipart/form-data.");
    const body = await readMultipart(c.req.raw, {
      maxFields,
      maxFile: limits.importFile,
      by: person.id,
    }).catch(explainMultipart);
    try {
      const [file] = body.files;
      if (!file) throw invalid("file", "Elige el archivo de la exportación.");
      if (file.size > limits.importFile) {
        const most = limits.importFile / 1024 / 1024;
        throw invalid("file", `El archivo pesa más de ${most} MB. Sube solo su conversations.json, en un ZIP.`);
      }
      const counted = { chats: 0, messages: 0, known: 0 };
      for (const chat of await chatsIn(file.path)) {
        const added = await addChat(services.db, person.id, chat);
        counted.chats += added ? 1 : 0;
        counted.known += added ? 0 : 1;
        counted.messages += added ? chat.messages.length : 0;
      }
      return c.json(counted, 201);
    } finally {
      await body.discard();
    }
  },
);

imports.openAPIRegistry.registerPath({
  ...route,
  request: {
    body: {
      content: {
        "multipart/form-data": { schema: z.object({ file: z.any().openapi({ type: "string", format: "binary" }) }) },
      },
      required: true,
    },
  },
});

async function chatsIn(path: string): Promise<FoundChat[]> {
  const program = new URL(`./import.worker${extname(import.meta.filename)}`, import.meta.url);
  const answer = await reading(() => runWorker<ImportAnswer>(program, { path })).catch((error) => {
    if (error instanceof TooMuch) return { refused: "es demasiado grande para leerlo de una vez." };
    throw error;
  });
  if ("refused" in answer) throw invalid("file", `El archivo ${answer.refused}`);
  return answer.chats;
}

/**
 * Adds a chat with its messages; false where it was added before. In steps, so that others have their turn; the key that
 * tells that it is there comes last.
 */
async function addChat(db: Db, userId: string, chat: FoundChat): Promise<boolean> {
  // Told by where it comes from; what has no name of its own by what it says.
  const origin = chat.key || chat.messages.map(({ content }) => content).join("\n");
  const key = importKey(createHash("sha256").update(origin).digest("hex").slice(0, 40));
  const before = db.selectFrom("messages").where("userId", "=", userId).where("key", "=", key);
  if (await before.select("id").executeTakeFirst()) return false;
  const ids = new Map(chat.messages.map((message) => [message.key, newId()]));
  const row = chatRow(userId, chat, ids);
  await db.insertInto("chats").values(row).execute();
  try {
    for (let at = 0; at < chat.messages.length; at += rowsAtOnce) {
      await addMessages(db, row, chat.messages.slice(at, at + rowsAtOnce), ids);
      // SQLite answers in the same turn of the loop: others have theirs in between.
      await new Promise(setImmediate);
    }
    const [first] = chat.messages;
    await db
      .updateTable("messages")
      .set({ key })
      .where("id", "=", (first && ids.get(first.key)) ?? "")
      .execute();
    return true;
  } catch (error) {
    await db.deleteFrom("chats").where("id", "=", row.id).execute();
    // The same file sent twice at once: the other one was first.
    if (isTaken(error)) return false;
    throw error;
  }
}

function chatRow(userId: string, chat: FoundChat, ids: Map<string, string>): ChatRow {
  const now = Date.now();
  const at = chat.at || now;
  return {
    id: newId(),
    createdAt: at,
    updatedAt: now,
    userId,
    projectId: null,
    modelId: null,
    title: chat.title.slice(0, limits.chatTitle).toWellFormed(),
    titled: 1,
    pinned: 0,
    archived: 0,
    lastMessageAt: chat.messages.reduce((latest, message) => Math.max(latest, message.at), 0) || at,
    draft: null,
    leafId: ids.get(chat.leaf) ?? null,
    sessionId: null,
  };
}

async function addMessages(db: Db, chat: ChatRow, messages: FoundChat["messages"], ids: Map<string, string>) {
  const rows = messages.map(
    (message): MessageRow => ({
      id: ids.get(message.key) ?? newId(),
      createdAt: message.at || chat.createdAt,
      updatedAt: chat.updatedAt,
      chatId: chat.id,
      userId: chat.userId,
      parentId: (message.parent && ids.get(message.parent)) || null,
      role: message.role,
      content: message.content,
      status: "complete",
      modelId: null,
      error: null,
      inputTokens: null,
      outputTokens: null,
      sources: null,
      key: null,
      heartbeatAt: null,
      finishedAt: message.at || chat.createdAt,
    }),
  );
  await db.transaction().execute(async (trx) => {
    await trx.insertInto("messages").values(rows).execute();
    for (const message of messages) {
      const refers = { messageId: ids.get(message.key) ?? null, chatId: chat.id };
      await indexPassages(trx, chat.userId, refers, message.passages);
    }
  });
}
