import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { v7 as newId } from "uuid";
import type { Db } from "../../db/engine.server.ts";
import { isTaken } from "../../db/errors.server.ts";
import { planWithoutRoom } from "../../db/people/storage-use.server.ts";
import { chatRow, messageRow } from "../../db/rows.server.ts";
import { indexPassages } from "../../db/search/passages.server.ts";
import type { ChatRow, FileRow } from "../../db/tables.ts";
import type { Files } from "../../files/files.server.ts";
import { FileRefused } from "../../files/refused.server.ts";
import { JobFailed } from "../../jobs/jobs.server.ts";
import { limits } from "../../process/limits.ts";
import { cutText } from "../../process/text/cut-text.ts";
import type { Source } from "../../replies/chunk.ts";
import { numbered, type ReplyPart, storeParts } from "../../replies/parts.server.ts";
import { importKeyStart } from "../http/schemas.server.ts";
import type { FoundChat, FoundFile, FoundReply } from "./found-chat.server.ts";

export type ImportServices = { db: Db; files: Files };

// Few enough that storing them causes no noticeable pause.
const rowsAtOnce = 40;

/** The key of an imported chat's first message; keys of clients can't have its prefix. */
function keyOf({ key, messages }: FoundChat): string {
  // A chat is identified by its id in the export, or by its content if it has no id.
  const origin = key || messages.map(({ content }) => content).join("\n");
  return `${importKeyStart}${createHash("sha256").update(origin).digest("hex").slice(0, 40)}`;
}

/** Whether this person has imported a chat before, or already has it, because the export is from this house. */
export async function isImported(db: Db, userId: string, chat: FoundChat): Promise<boolean> {
  const before = db.selectFrom("messages").where("userId", "=", userId).where("key", "=", keyOf(chat));
  if (await before.select("id").executeTakeFirst()) return true;
  const own = db.selectFrom("chats").where("userId", "=", userId).where("id", "=", chat.key);
  return (await own.select("id").executeTakeFirst()) !== undefined;
}

/** Throws JobFailed if a chat does not fit in the person's plan; chats imported before it are kept. */
async function refuseImportBeyondPlan(db: Db, userId: string, { title, messages }: FoundChat): Promise<void> {
  const bytes = messages.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
  const full = await planWithoutRoom(db, userId, bytes);
  if (full === undefined) return;
  throw new JobFailed(
    `«${title.slice(0, 60)}» ya no cabe en tu plan, que guarda ${full.toLocaleString("es")} MB; las anteriores se han importado.`,
  );
}

/** Things here that a chat belongs to or refers to. `begun` gets the chat's id before it is stored; `fileIds`: by ids in the export. */
type Belonging = {
  begun?: (chatId: string) => Promise<void>;
  projectId?: string | null;
  assistantId?: string | null;
  fileIds?: ReadonlyMap<string, string> | undefined;
};

/**
 * Stores a chat with its messages in batches, so that other requests can run in between, then its files. The key that marks it as
 * imported is set last. Returns undefined if it was imported before, else how many files it has, and
 * those that were refused. Throws JobFailed if it does not fit in the plan.
 */
export async function addChat(
  services: ImportServices,
  userId: string,
  chat: FoundChat,
  { begun, projectId = null, assistantId = null, fileIds = new Map() }: Belonging = {},
) {
  const { db } = services;
  const key = keyOf(chat);
  if (await isImported(db, userId, chat)) return;
  await refuseImportBeyondPlan(db, userId, chat);
  const ids = new Map(chat.messages.map((message) => [message.key, newId()]));
  const row = { ...importedChat(userId, chat, ids), projectId, assistantId };
  const models = await modelsByName(db);
  await begun?.(row.id);
  await db.insertInto("chats").values(row).execute();
  try {
    for (let at = 0; at < chat.messages.length; at += rowsAtOnce) {
      await addMessages(db, row, chat.messages.slice(at, at + rowsAtOnce), { ids, models, fileIds });
      // SQLite runs synchronously; this lets other requests run in between.
      await setImmediate();
    }
    const added = await addFiles(services, userId, chat, ids);
    for (const { key, reply } of chat.messages) {
      if (reply) added.left.push(...(await addParts(services, userId, reply.parts, ids.get(key) ?? "")));
    }
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

/** Stores the files of a chat's messages and attaches them. Files that are refused, also for lack of room, are returned in `left`. */
async function addFiles({ db, files }: ImportServices, userId: string, chat: FoundChat, ids: Map<string, string>) {
  const left: FoundChat["left"] = [];
  let count = 0;
  for (const message of chat.messages) {
    for (const [position, file] of message.files.entries()) {
      const stored = await takeFound(files, file, userId);
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

/** Stores a file of an export for a person; returns undefined if the file is refused, also for lack of room. */
export async function takeFound(
  files: Files,
  { path, name, size }: Omit<FoundFile, "kind">,
  userId: string,
  projectId: string | null = null,
): Promise<FileRow | undefined> {
  try {
    return await files.take({ path, name, size }, { userId, projectId, temporary: false });
  } catch (error) {
    if (error instanceof FileRefused) return undefined;
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
    pinned: chat.pinned ? 1 : 0,
    lastMessageAt: chat.messages.reduce((latest, message) => Math.max(latest, message.at), 0) || at,
    leafId: ids.get(chat.leaf) ?? null,
  });
}

/** Ids of models by their names, except names that several models have. */
async function modelsByName(db: Db): Promise<Map<string, string>> {
  const models = await db.selectFrom("models").select(["id", "name"]).execute();
  const named = Map.groupBy(models, ({ name }) => name);
  return new Map([...named].flatMap(([name, [model, other]]) => (model && !other ? [[name, model.id]] : [])));
}

/** Stores the thoughts, calls and images of a reply. Returns the images that are refused. */
async function addParts(
  { db, files }: ImportServices,
  userId: string,
  found: FoundReply["parts"],
  messageId: string,
): Promise<FoundChat["left"]> {
  const left: FoundChat["left"] = [];
  const parts: ReplyPart[] = [];
  for (const part of found) {
    if (part.kind === "image") {
      const { file, ...size } = part.image;
      const stored = await takeFound(files, file, userId);
      if (stored) parts.push({ ...part, image: { fileId: stored.id, ...size } });
      else left.push({ kind: file.kind, name: file.name });
    } else if (part.kind !== "text" || parts.at(-1)?.kind !== "text") parts.push(part);
  }
  await storeParts(db, messageId, numbered(parts), Date.now());
  return left;
}

/** Ids here of messages by their keys, of models by their names, and of files by their ids in the export. */
type Here = { ids: Map<string, string>; models: Map<string, string>; fileIds: ReadonlyMap<string, string> };

async function addMessages(db: Db, chat: ChatRow, messages: FoundChat["messages"], { ids, models, fileIds }: Here) {
  const rows = messages.map((message) => {
    const at = message.at || chat.createdAt;
    const { reply } = message;
    return messageRow(at, {
      id: ids.get(message.key) ?? newId(),
      updatedAt: chat.updatedAt,
      chatId: chat.id,
      userId: chat.userId,
      parentId: (message.parent && ids.get(message.parent)) || null,
      role: message.role,
      content: message.content,
      outside: 1,
      finishedAt: reply?.finishedAt ?? at,
      ...(reply && {
        status: reply.status,
        error: reply.error,
        modelId: models.get(reply.model ?? "") ?? null,
        sources: reply.sources.length > 0 ? JSON.stringify(reply.sources.map((one) => sourceHere(one, fileIds))) : null,
      }),
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

/** A source with its file here; without a file if the file was not imported. */
function sourceHere({ fileId, position, ...source }: Source, fileIds: Here["fileIds"]): Source {
  const here = fileId && fileIds.get(fileId);
  return here ? { ...source, fileId: here, position: position ?? 0 } : source;
}
