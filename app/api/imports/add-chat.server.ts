import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { v7 as newId } from "uuid";
import type { Db } from "../../db/engine.server.ts";
import { isTaken } from "../../db/errors.server.ts";
import { planWithoutRoom } from "../../db/people/storage-use.server.ts";
import { chatRow, messageRow } from "../../db/rows.server.ts";
import { indexPassages } from "../../db/search/passages.server.ts";
import type { ChatRow, FileRow, MessageRow } from "../../db/tables.ts";
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

/** Id of the chat as which this person has imported a chat before. */
async function importedAs(db: Db, userId: string, chat: FoundChat): Promise<string | undefined> {
  const before = db.selectFrom("messages").where("userId", "=", userId).where("key", "=", keyOf(chat));
  return (await before.select("chatId").executeTakeFirst())?.chatId;
}

/** Whether this person has imported a chat before, or already has it, because the export is from this house. */
export async function isImported(db: Db, userId: string, chat: FoundChat): Promise<boolean> {
  if (await importedAs(db, userId, chat)) return true;
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

/** How many messages and files were stored, and the files that were refused. `isGrown`: the chat had been imported before. */
export type AddedChat = { messages: number; files: number; left: FoundChat["left"]; isGrown: boolean };

/**
 * Stores a chat with its messages in batches, so that other requests can run in between, then its files. The key that marks it as
 * imported is set last. A chat that was imported before gets the messages that it lacks. Returns undefined if it lacks none. Throws
 * JobFailed if it does not fit in the plan.
 */
export async function addChat(
  services: ImportServices,
  userId: string,
  chat: FoundChat,
  { begun, projectId = null, assistantId = null, fileIds = new Map() }: Belonging = {},
): Promise<AddedChat | undefined> {
  const { db } = services;
  const key = keyOf(chat);
  const before = await importedAs(db, userId, chat);
  // A chat without an id is known by all of its texts, so nothing in it is new.
  if (before) return chat.key ? growChat(services, before, chat, fileIds) : undefined;
  if (await isImported(db, userId, chat)) return;
  await refuseImportBeyondPlan(db, userId, chat);
  const ids = new Map(chat.messages.map((message) => [message.key, newId()]));
  const row = { ...importedChat(userId, chat, ids), projectId, assistantId };
  await begun?.(row.id);
  await db.insertInto("chats").values(row).execute();
  try {
    await addAllMessages(db, row, chat.messages, { ids, fileIds });
    const added = await addFilesAndParts(services, userId, chat.messages, ids);
    const [first] = chat.messages;
    const firstId = first && ids.get(first.key);
    if (firstId) await db.updateTable("messages").set({ key }).where("id", "=", firstId).execute();
    return { ...added, messages: chat.messages.length, isGrown: false };
  } catch (error) {
    await db.deleteFrom("chats").where("id", "=", row.id).execute();
    // The same file was sent twice at once, and the other request was first.
    if (isTaken(error)) return;
    throw error;
  }
}

/**
 * Adds the messages that a later export of a chat has more. Undefined if it has none, or if another request has added them. A message that
 * is older than the newest one that was imported is not new: its person has deleted it here.
 */
async function growChat(
  services: ImportServices,
  chatId: string,
  chat: FoundChat,
  fileIds: ReadonlyMap<string, string>,
): Promise<AddedChat | undefined> {
  const { db } = services;
  const row = await db.selectFrom("chats").where("id", "=", chatId).selectAll().executeTakeFirst();
  if (!row) return undefined;
  const rows = await db
    .selectFrom("messages")
    .where("chatId", "=", chatId)
    .select(["id", "parentId", "role", "content", "createdAt", "outside", "key"])
    .orderBy("id")
    .execute();
  const newest = rows.reduce(
    (last, one) => (Number(one.outside) === 1 ? Math.max(last, Number(one.createdAt)) : last),
    0,
  );
  const ids = idsOfKnown(chat, rows);
  const isNew = ({ at, parent }: FoundChat["messages"][number]) =>
    (at === 0 || at === chat.at || at >= newest) && (!parent || ids.has(parent));
  const fresh = chat.messages.filter((message) => {
    if (ids.has(message.key) || !isNew(message)) return false;
    ids.set(message.key, newId());
    return true;
  });
  if (fresh.length === 0) return undefined;
  await refuseImportBeyondPlan(db, row.userId, { ...chat, messages: fresh });
  const keys = new Map(fresh.map(({ key }) => [key, keyOfMessage(chat, key)]));
  try {
    await addAllMessages(services.db, row, fresh, { ids, fileIds, keys });
    const lastMessageAt = fresh.reduce((last, { at }) => Math.max(last, at), Number(row.lastMessageAt));
    // A chat that its person has gone on with here stays where they are.
    const isWhereItWas = [...ids.values()].includes(row.leafId ?? "");
    const leafId = (isWhereItWas && ids.get(chat.leaf)) || row.leafId;
    await db.updateTable("chats").set({ leafId, lastMessageAt }).where("id", "=", chatId).execute();
    const added = await addFilesAndParts(services, row.userId, fresh, ids);
    return { ...added, messages: fresh.length, isGrown: true };
  } catch (error) {
    if (isTaken(error)) return undefined;
    const { leafId, lastMessageAt } = row;
    await db.updateTable("chats").set({ leafId, lastMessageAt }).where("id", "=", chatId).execute();
    const own = [...keys.values()];
    for (let at = 0; at < own.length; at += rowsAtOnce) {
      await db
        .deleteFrom("messages")
        .where("chatId", "=", chatId)
        .where("key", "in", own.slice(at, at + rowsAtOnce))
        .execute();
    }
    throw error;
  }
}

const keyOfMessage = (chat: FoundChat, key: string) =>
  `${importKeyStart}${createHash("sha256")
    .update(`${keyOf(chat)} ${key}`)
    .digest("hex")
    .slice(0, 40)}`;

type KnownMessage = Pick<MessageRow, "id" | "parentId" | "role" | "content" | "createdAt" | "key">;

/**
 * Ids of the messages of an export that are here, under the same parent and of the same role: by the key of one that a later export brought,
 * by text and time, by text alone in the order of both, or, where a later release reads the text in another way, by a time that no other has.
 */
function idsOfKnown(chat: FoundChat, rows: KnownMessage[]): Map<string, string> {
  const left = Map.groupBy(rows, ({ role, parentId }) => `${role} ${parentId}`);
  const siblings = Map.groupBy(chat.messages, ({ role, parent }) => `${role} ${parent}`);
  const ids = new Map<string, string>();
  // Parents stand before their children.
  for (const all of siblings.values()) {
    const [{ role, parent } = { role: "user", parent: null }] = all;
    if (parent && !ids.has(parent)) continue;
    const there = new Set(left.get(`${role} ${(parent && ids.get(parent)) || null}`));
    const match = <Mark>(
      markOf: (row: KnownMessage) => Mark,
      given: (message: FoundChat["messages"][number]) => Mark,
    ) => {
      // The first one of each mark stands last.
      const marked = Map.groupBy([...there].reverse(), markOf);
      for (const message of all) {
        const one = ids.has(message.key) ? undefined : marked.get(given(message))?.pop();
        if (!one) continue;
        ids.set(message.key, one.id);
        there.delete(one);
      }
    };
    match(
      ({ key }) => key,
      ({ key }) => keyOfMessage(chat, key),
    );
    match(
      ({ createdAt, content }) => `${createdAt} ${content}`,
      ({ at, content }) => `${at} ${content}`,
    );
    match(
      ({ content }) => content,
      ({ content }) => content,
    );
    const byTime = Map.groupBy([...there], ({ createdAt }) => Number(createdAt));
    const open = all.filter(({ key, at }) => !ids.has(key) && at !== chat.at);
    for (const [at, [message, other]] of Map.groupBy(open, (one) => one.at)) {
      const [one, another] = byTime.get(at) ?? [];
      if (message && one && !other && !another) ids.set(message.key, one.id);
    }
  }
  return ids;
}

async function addAllMessages(db: Db, row: ChatRow, messages: FoundChat["messages"], here: Omit<Here, "models">) {
  const models = await modelsByName(db);
  for (let at = 0; at < messages.length; at += rowsAtOnce) {
    await addMessages(db, row, messages.slice(at, at + rowsAtOnce), { ...here, models });
    // SQLite runs synchronously; this lets other requests run in between.
    await setImmediate();
  }
}

async function addFilesAndParts(
  services: ImportServices,
  userId: string,
  messages: FoundChat["messages"],
  ids: Map<string, string>,
): Promise<Pick<AddedChat, "files" | "left">> {
  const added = await addFiles(services, userId, messages, ids);
  for (const { key, reply } of messages) {
    if (reply) added.left.push(...(await addParts(services, userId, reply.parts, ids.get(key) ?? "")));
  }
  return added;
}

/** Stores the files of a chat's messages and attaches them. Files that are refused, also for lack of room, are returned in `left`. */
async function addFiles(
  { db, files }: ImportServices,
  userId: string,
  messages: FoundChat["messages"],
  ids: Map<string, string>,
) {
  const left: FoundChat["left"] = [];
  let count = 0;
  for (const message of messages) {
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

/** Ids here of messages by their keys, of models by their names, and of files by their ids in the export; `keys`: to be stored with messages. */
type Here = {
  ids: Map<string, string>;
  models: Map<string, string>;
  fileIds: ReadonlyMap<string, string>;
  keys?: ReadonlyMap<string, string>;
};

async function addMessages(
  db: Db,
  chat: ChatRow,
  messages: FoundChat["messages"],
  { ids, models, fileIds, keys }: Here,
) {
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
      key: keys?.get(message.key) ?? null,
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
