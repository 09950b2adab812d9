import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { z } from "@hono/zod-openapi";
import { v7 as newId } from "uuid";
import type { Db } from "../../db/engine.server.ts";
import { isTaken } from "../../db/errors.server.ts";
import { planWithoutRoom } from "../../db/people/storage-use.server.ts";
import { chatRow, messageRow } from "../../db/rows.server.ts";
import { indexPassages } from "../../db/search/passages.server.ts";
import type { ChatRow } from "../../db/tables.ts";
import type { Files } from "../../files/files.server.ts";
import { FileRefused } from "../../files/refused.server.ts";
import { type JobAtWork, JobFailed, type JobRules } from "../../jobs/jobs.server.ts";
import { runWorker, TooMuch } from "../../process/child-process.server.ts";
import { limits } from "../../process/limits.ts";
import { cutText } from "../../process/text/cut-text.ts";
import { importKeyStart } from "../http/schemas.server.ts";
import type { FoundChat, FoundFile, ImportAnswer, ImportWork } from "./import.worker.ts";

export const imported = z
  .object({
    chats: z.number(),
    messages: z.number(),
    files: z.number(),
    known: z.number().openapi({ description: "Los que ya se habían importado antes." }),
    left: z.array(z.string()).openapi({ description: "Lo que no venía en la exportación, en palabras." }),
  })
  .openapi("Imported");
type Imported = z.output<typeof imported>;

type ImportServices = { db: Db; files: Files };

// Few enough that storing them causes no noticeable pause.
const rowsAtOnce = 40;
const retries = [10_000, 60_000, 10 * 60_000];

/** How exports are imported; what a first attempt has done is known to the next one. One at a time, because each may need half a gigabyte for a moment. */
export const importing = (services: ImportServices): JobRules => ({
  atOnce: 1,
  retries,
  async work(job) {
    const { storage } = services.files;
    // Swept like uploads (`http/multipart.server.ts`) if the process is killed.
    const folder = await mkdtemp(join(tmpdir(), "tertulia-recibido-"));
    try {
      const chats = await storage.lend(job.id, "original", (path) => chatsIn({ path, folder }));
      if (!chats) throw new JobFailed("el archivo ya no está en el servidor. Súbelo otra vez.");
      const result = await addChats(services, job, chats);
      await storage.delete([job.id]);
      return result;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
});

async function chatsIn(work: ImportWork): Promise<FoundChat[]> {
  const program = new URL(`./import.worker${extname(import.meta.filename)}`, import.meta.url);
  const answer = await runWorker<ImportAnswer>(program, work).catch((error) => {
    if (error instanceof TooMuch) return { refused: "es demasiado grande para leerlo de una vez." };
    throw error;
  });
  if ("refused" in answer) throw new JobFailed(`el archivo ${answer.refused}`);
  return answer.chats;
}

/** How far an import has come: the chat that is being added, its number among all, and what was counted before it. */
const memory = z.object({
  chatId: z.string().optional(),
  index: z.number().default(0),
  chats: z.number().default(0),
  messages: z.number().default(0),
  files: z.number().default(0),
  known: z.number().default(0),
});
type Memory = z.output<typeof memory>;

async function addChats(services: ImportServices, job: JobAtWork, chats: FoundChat[]): Promise<Imported> {
  const { index: begun, chatId, ...counted } = memory.parse(JSON.parse(job.data));
  // Refusals among those that an earlier attempt has added are not known any more.
  const left = chats.slice(0, begun).flatMap((chat) => chat.left);
  for (let index = begun; index < chats.length; index++) {
    const chat = chats[index];
    if (!chat) break;
    job.signal.throwIfAborted();
    await job.progress(index, chats.length);
    const added =
      index === begun && (await isWhole(services.db, job, chatId))
        ? { files: 0, left: [] }
        : await addChat(services, job, chat, { ...counted, index });
    if (!added) {
      counted.known++;
      continue;
    }
    counted.chats++;
    counted.messages += chat.messages.length;
    counted.files += added.files;
    left.push(...chat.left, ...added.left);
  }
  return { ...counted, left: leftInWords(left) };
}

/** Whether the chat that an attempt was adding when it was cut off was added to its end. Half a chat is deleted. */
async function isWhole(db: Db, { userId }: JobAtWork, chatId: string | undefined): Promise<boolean> {
  if (!chatId) return false;
  const marked = db.selectFrom("messages").where("chatId", "=", chatId).where("key", "like", `${importKeyStart}%`);
  if (await marked.select("id").executeTakeFirst()) return true;
  await db.deleteFrom("chats").where("id", "=", chatId).where("userId", "=", userId).execute();
  return false;
}

/** The key of an imported chat's first message; keys of clients can't have this prefix. */
const importKey = (origin: string) => `${importKeyStart}${origin}`;

/** Throws JobFailed if a chat does not fit in the person's plan; chats imported before it are kept. */
async function refuseImportBeyondPlan(db: Db, userId: string, { title, messages }: FoundChat): Promise<void> {
  const bytes = messages.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
  const full = await planWithoutRoom(db, userId, bytes);
  if (full === undefined) return;
  throw new JobFailed(
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

/**
 * Stores a chat with its messages in batches, so that other requests can run in between, then its files. The key that marks it as
 * imported is set last. Returns undefined if it was imported before, else how many files it has, and those that were refused. Throws
 * JobFailed if it does not fit in the plan.
 */
async function addChat(services: ImportServices, job: JobAtWork, chat: FoundChat, sofar: Memory) {
  const { db } = services;
  const userId = job.userId ?? "";
  // Identified by its id in the export, or by its content if it has none.
  const origin = chat.key || chat.messages.map(({ content }) => content).join("\n");
  const key = importKey(createHash("sha256").update(origin).digest("hex").slice(0, 40));
  const before = db.selectFrom("messages").where("userId", "=", userId).where("key", "=", key);
  if (await before.select("id").executeTakeFirst()) return;
  await refuseImportBeyondPlan(db, userId, chat);
  const ids = new Map(chat.messages.map((message) => [message.key, newId()]));
  const row = importedChat(userId, chat, ids);
  await job.remember(JSON.stringify({ ...sofar, chatId: row.id }));
  await db.insertInto("chats").values(row).execute();
  try {
    for (let at = 0; at < chat.messages.length; at += rowsAtOnce) {
      await addMessages(db, row, chat.messages.slice(at, at + rowsAtOnce), ids);
      // SQLite runs synchronously; this lets other requests run in between.
      await setImmediate();
    }
    const added = await addFiles(services, userId, chat, ids);
    const [first] = chat.messages;
    const firstId = first && ids.get(first.key);
    if (firstId) await db.updateTable("messages").set({ key }).where("id", "=", firstId).execute();
    return added;
  } catch (error) {
    await db.deleteFrom("chats").where("id", "=", row.id).execute();
    // The same file was sent twice at once, and the other request was first.
    if (isTaken(error)) return;
    throw error;
  }
}

/** Stores the files of a chat's messages and attaches them. Those that are refused, for want of room too, are answered as left. */
async function addFiles({ db, files }: ImportServices, userId: string, chat: FoundChat, ids: Map<string, string>) {
  const left: FoundChat["left"] = [];
  let count = 0;
  for (const message of chat.messages) {
    for (const [position, file] of message.files.entries()) {
      const stored = await takeFile(files, userId, file);
      if (!stored) {
        left.push({ kind: file.kind, name: file.name });
        continue;
      }
      const { id: fileId, name, mediaType, createdAt, updatedAt } = stored;
      const messageId = ids.get(message.key) ?? "";
      const row = { id: newId(), createdAt, updatedAt, messageId, fileId, name, mediaType, position };
      await db.insertInto("attachments").values(row).execute();
      count++;
    }
  }
  return { files: count, left };
}

async function takeFile(files: Files, userId: string, file: FoundFile) {
  try {
    return await files.take(file, { userId, projectId: null, temporary: false });
  } catch (error) {
    if (error instanceof FileRefused) return;
    throw error;
  }
}

function importedChat(userId: string, chat: FoundChat, ids: Map<string, string>): ChatRow {
  const now = Date.now();
  const at = chat.at || now;
  return chatRow(at, {
    updatedAt: now,
    userId,
    title: cutText(chat.title, limits.chatTitle),
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
      outside: 1,
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
