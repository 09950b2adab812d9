import { createHash } from "node:crypto";
import { extname } from "node:path";
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import pLimit from "p-limit";
import { v7 as newId } from "uuid";
import type { Db } from "../../db/connection.server.ts";
import { isTaken } from "../../db/errors.server.ts";
import { chatRow, messageRow } from "../../db/rows.server.ts";
import { indexPassages } from "../../db/search.server.ts";
import { planWithoutRoom } from "../../db/storage-use.server.ts";
import type { ChatRow } from "../../db/tables.ts";
import { runWorker, TooMuch } from "../../process/child-process.server.ts";
import { limits } from "../../process/limits.ts";
import type { ApiEnv } from "../env.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { takesBodyOf } from "../http/bodies.server.ts";
import { answerInvalid, invalid } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, bearer, importKeyStart } from "../http/schemas.server.ts";
import { multipartBody } from "../knowledge/multipart-body.server.ts";
import type { FoundChat, ImportAnswer } from "./import.worker.ts";

const imported = z
  .object({
    chats: z.number(),
    messages: z.number(),
    known: z.number().openapi({ description: "Los que ya se habían importado antes." }),
    left: z.array(z.string()).openapi({ description: "Lo que no venía en la exportación, en palabras." }),
  })
  .openapi("Imported");

const route = {
  method: "post" as const,
  path: "/import" as const,
  security: bearer,
  responses: { 201: answers(imported, "Cuántos chats y mensajes hay de más.") },
};
// Few enough that storing them causes no noticeable pause.
const rowsAtOnce = 40;
// One at a time, because each may need half a gigabyte for a moment.
const reading = pLimit(1);

/** The key of an imported chat's first message; keys of clients can't have this prefix. */
const importKey = (origin: string) => `${importKeyStart}${origin}`;

/**
 * Imports conversations from export files of Tertulia, ChatGPT, Claude, Open WebUI or LibreChat. Chats that were imported before
 * are skipped.
 */
export const imports = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(
  createRoute({
    ...route,
    middleware: [signedIn, active, publishes("chat"), takesBodyOf(limits.uploadBody)],
    hide: true,
  }),
  async (c) => {
    const { person, services } = c.var;
    await countAttempt(c, "import", person.id);
    const body = await multipartBody(c, limits.importFile);
    try {
      const [file] = body.files;
      if (!file) throw invalid("file", "Elige el archivo de la exportación.");
      if (file.size > limits.importFile) {
        const most = limits.importFile / 1024 / 1024;
        throw invalid("file", `El archivo pesa más de ${most} MB. Sube solo su conversations.json, en un ZIP.`);
      }
      const counted = { chats: 0, messages: 0, known: 0 };
      const left: FoundChat["left"] = [];
      for (const chat of await chatsIn(file.path)) {
        const added = await addChat(services.db, person.id, chat);
        counted.chats += added ? 1 : 0;
        counted.known += added ? 0 : 1;
        counted.messages += added ? chat.messages.length : 0;
        if (added) left.push(...chat.left);
      }
      return c.json({ ...counted, left: leftInWords(left) }, 201);
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

/** Throws 422 if a chat does not fit in the person's plan; chats imported before it are kept. */
async function refuseImportBeyondPlan(db: Db, userId: string, { title, messages }: FoundChat): Promise<void> {
  const bytes = messages.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
  const full = await planWithoutRoom(db, userId, bytes);
  if (full === undefined) return;
  throw invalid(
    "file",
    `«${title.slice(0, 60)}» ya no cabe en tu plan, que guarda ${full.toLocaleString("es")} MB; las anteriores se han importado.`,
  );
}

const namesSaid = 5;

/** Sentences about what the export did not contain, with the first names: «3 archivos: acta.pdf, notas.txt y más». */
function leftInWords(left: FoundChat["left"]): string[] {
  const said = (kind: "image" | "file", [one, many]: [string, string]) => {
    const all = left.filter((item) => item.kind === kind);
    if (all.length === 0) return [];
    const names = [...new Set(all.map(({ name }) => name.slice(0, 80)).filter(Boolean))].slice(0, namesSaid);
    const rest = names.length > 0 && names.length < all.length ? " y más" : "";
    return [`${all.length} ${all.length === 1 ? one : many}${names.length > 0 ? `: ${names.join(", ")}${rest}` : ""}`];
  };
  return [...said("image", ["imagen", "imágenes"]), ...said("file", ["archivo", "archivos"])];
}

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
 * Stores a chat with its messages in batches, so that other requests can run in between. The key that marks it as imported is
 * set last. Returns false if it was imported before. Throws 422 if it does not fit in the plan.
 */
async function addChat(db: Db, userId: string, chat: FoundChat): Promise<boolean> {
  // Identified by its id in the export, or by its content if it has none.
  const origin = chat.key || chat.messages.map(({ content }) => content).join("\n");
  const key = importKey(createHash("sha256").update(origin).digest("hex").slice(0, 40));
  const before = db.selectFrom("messages").where("userId", "=", userId).where("key", "=", key);
  if (await before.select("id").executeTakeFirst()) return false;
  await refuseImportBeyondPlan(db, userId, chat);
  const ids = new Map(chat.messages.map((message) => [message.key, newId()]));
  const row = importedChat(userId, chat, ids);
  await db.insertInto("chats").values(row).execute();
  try {
    for (let at = 0; at < chat.messages.length; at += rowsAtOnce) {
      await addMessages(db, row, chat.messages.slice(at, at + rowsAtOnce), ids);
      // SQLite runs synchronously; this lets other requests run in between.
      await new Promise(setImmediate);
    }
    const [first] = chat.messages;
    const firstId = first && ids.get(first.key);
    if (firstId) await db.updateTable("messages").set({ key }).where("id", "=", firstId).execute();
    return true;
  } catch (error) {
    await db.deleteFrom("chats").where("id", "=", row.id).execute();
    // The same file was sent twice at once, and the other request was first.
    if (isTaken(error)) return false;
    throw error;
  }
}

function importedChat(userId: string, chat: FoundChat, ids: Map<string, string>): ChatRow {
  const now = Date.now();
  const at = chat.at || now;
  return chatRow(at, {
    updatedAt: now,
    userId,
    title: chat.title.slice(0, limits.chatTitle).toWellFormed(),
    titled: 1,
    archived: chat.archived ? 1 : 0,
    lastMessageAt: chat.messages.reduce((latest, message) => Math.max(latest, message.at), 0) || at,
    leafId: ids.get(chat.leaf) ?? null,
  });
}

async function addMessages(db: Db, chat: ChatRow, messages: FoundChat["messages"], ids: Map<string, string>) {
  const rows = messages.map((message) => {
    const at = message.at || chat.createdAt;
    return messageRow(at, {
      id: ids.get(message.key) ?? newId(),
      updatedAt: chat.updatedAt,
      chatId: chat.id,
      userId: chat.userId,
      parentId: (message.parent && ids.get(message.parent)) || null,
      role: message.role,
      content: message.content,
      finishedAt: at,
    });
  });
  await db.transaction().execute(async (trx) => {
    await trx.insertInto("messages").values(rows).execute();
    for (const message of messages) {
      const refers = { messageId: ids.get(message.key) ?? null, chatId: chat.id };
      await indexPassages(trx, chat.userId, refers, message.passages);
    }
  });
}
