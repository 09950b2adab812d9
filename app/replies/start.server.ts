import type { Db, Trx } from "../db/engine.server.ts";
import { isTaken } from "../db/errors.server.ts";
import { planWithoutRoom } from "../db/people/storage-use.server.ts";
import { prepared } from "../db/prepared.server.ts";
import { chatRow, insertChat, insertMessage, messageRow } from "../db/rows.server.ts";
import { indexText } from "../db/search/passages.server.ts";
import type { ChatRow, MessageRow, ModelRow } from "../db/tables.ts";
import { Busy, CannotReply } from "./cannot-reply.server.ts";
import { partsOf, storedParts } from "./parts.server.ts";
import { attach, bytesOf } from "./prompt/attach.server.ts";
import { takeQueued } from "./queue.server.ts";
import type { Runs } from "./running/runs.server.ts";
import { firstWords } from "./title.server.ts";
import { reserveUsage } from "./usage.server.ts";

export type Started = { chatId: string; userMessageId: string | null; messageId: string; modelId: string | null };

export type NewMessage = {
  userId: string;
  chatId?: string | undefined;
  projectId?: string | undefined;
  /** The message that it follows; undefined: the chat's last one; null: it becomes a first message. */
  parentId?: string | null | undefined;
  content: string;
  model: ModelRow;
  key?: string | undefined;
  /** Files of the person, in order. */
  fileIds?: string[] | undefined;
  /** Makes the new chat temporary: it is deleted with this session. */
  sessionId?: string | undefined;
  /** Assistant of the chat from now on; undefined: the same as before. */
  assistantId?: string | null | undefined;
  /** The time zone of the person. */
  zone?: string | undefined;
  /** Keeps the chat's draft, because the message is not the draft (an edit). */
  keepDraft?: boolean;
  /** Stored form of the queued message that is sent here; it is taken out of the queue. */
  queued?: string | undefined;
  /** Set for a guest. */
  room?: AskedInRoom | undefined;
};

/**
 * Steps of a guest's question in the transaction that stores it. `enter`, the first, holds the guest, who may be about to leave. `take`,
 * the last, takes the message out of what the room has left; the room's row is locked after the chat's, as when a reply ends. Both throw.
 */
export type AskedInRoom = { enter(trx: Trx): Promise<void>; take(trx: Trx): Promise<void> };

/** Stores a person's message and an empty reply in one transaction and starts the reply. The same key makes one message. */
export async function sendMessage({ db, runs }: { db: Db; runs: Runs }, message: NewMessage): Promise<Started> {
  const before = await findSent(db, message);
  if (before?.sent) {
    // The message still waited after it had been sent.
    if (message.queued && message.chatId) await takeQueued(db, message.chatId, message.queued);
    return before.sent;
  }
  // The reply was deleted meanwhile: make another reply to the stored message.
  if (before?.question) return replyAgain({ db, runs }, before.question, message.model, message.zone, message.room);
  const now = Date.now();
  try {
    const stored = await db.transaction().execute(async (trx) => {
      await message.room?.enter(trx);
      await reserveUsage(trx, message.userId, message.model.id, now, { ofGuest: message.room !== undefined });
      await refuseTextBeyondPlan(trx, message.userId, message.content);
      const chat = await chatFor(trx, message, now);
      if (message.queued) await takeQueued(trx, chat.id, message.queued);
      const question = messageRow(now, {
        chatId: chat.id,
        userId: message.userId,
        parentId: message.parentId === undefined ? chat.leafId : message.parentId,
        content: message.content,
        // A different text with a used key, sent from a page in the history, is a new message.
        key: before ? null : (message.key ?? null),
      });
      const reply = emptyReply(question, message.model.id, now, runs);
      await insertMessage(trx, question);
      await insertMessage(trx, reply);
      await attach(trx, question, message.fileIds ?? [], chat.sessionId);
      // Temporary chats are not indexed.
      if (!chat.sessionId) {
        await indexText(trx, question.content, question.userId, { messageId: question.id, chatId: chat.id });
      }
      await showReply(trx, reply, now);
      if (message.chatId && message.assistantId !== undefined) {
        const { assistantId } = message;
        await trx.updateTable("chats").set({ assistantId }).where("id", "=", message.chatId).execute();
      }
      if (!message.keepDraft) await clearDraft(trx, message);
      await message.room?.take(trx);
      return { question, reply };
    });
    runs.start(stored.reply, stored.question, message.model, { zone: message.zone });
    return started(stored.reply, stored.question.id);
  } catch (error) {
    // Sent twice at the same moment: the unique key let only one through, or its reply is what keeps the chat busy.
    const twin = isTaken(error) || error instanceof Busy ? await findSent(db, message) : undefined;
    if (twin?.sent) return twin.sent;
    throw isTaken(error) ? new Busy() : error;
  }
}

/** Refuses a text that exceeds the plan's storage. `instead` is the text that it replaces. Throws CannotReply. */
export async function refuseTextBeyondPlan(db: Db, userId: string, content: string, instead = ""): Promise<void> {
  const full = await planWithoutRoom(db, userId, Buffer.byteLength(content) - Buffer.byteLength(instead));
  if (full !== undefined) {
    throw new CannotReply(
      "content",
      `Tu plan guarda ${full.toLocaleString("es")} MB y ya no cabe más. Borra archivos o conversaciones que no necesites.`,
    );
  }
}

/** Makes another reply to a person's message: «Regenerar» and «Reintentar». The earlier ones stay as versions. */
export async function replyAgain(
  { db, runs }: { db: Db; runs: Runs },
  question: MessageRow,
  model: ModelRow,
  zone?: string,
  room?: AskedInRoom,
): Promise<Started> {
  const now = Date.now();
  const reply = emptyReply(question, model.id, now, runs);
  await oneAtATime(db, question.chatId, async (trx) => {
    await room?.enter(trx);
    await reserveUsage(trx, question.userId, model.id, now, { ofGuest: room !== undefined });
    await insertMessage(trx, reply);
    await showReply(trx, reply, now);
    await room?.take(trx);
  });
  runs.start(reply, question, model, { zone });
  return started(reply, null);
}

/** Goes on with a reply that was cut short, in the same message: «Continuar». */
export async function continueReply(
  { db, runs }: { db: Db; runs: Runs },
  reply: MessageRow,
  model: ModelRow,
  zone?: string,
): Promise<Started> {
  const now = Date.now();
  const signature = runs.signature();
  const question = await oneAtATime(db, reply.chatId, async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable("messages")
      .set({ status: "streaming", error: null, finishedAt: null, ...signature, updatedAt: now, modelId: model.id })
      .where("id", "=", reply.id)
      .where("status", "not in", ["streaming", "waiting"])
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw new Busy();
    await reserveUsage(trx, reply.userId, model.id, now);
    return trx.selectFrom("messages").where("id", "=", reply.parentId).selectAll().executeTakeFirstOrThrow();
  });
  const parts = partsOf(reply.content, await storedParts(db, reply.id));
  runs.start({ ...reply, ...signature, status: "streaming" }, question, model, { parts, zone });
  return started(reply, null);
}

/** Runs a transaction that starts a reply in a chat. Refused while another reply runs there; the unique index decides races. */
async function oneAtATime<Result>(db: Db, chatId: string, work: (trx: Trx) => Promise<Result>): Promise<Result> {
  try {
    return await db.transaction().execute(async (trx) => {
      await refuseWhileStreaming(trx, chatId);
      return work(trx);
    });
  } catch (error) {
    throw isTaken(error) ? new Busy() : error;
  }
}

async function refuseWhileStreaming(db: Db, chatId: string): Promise<void> {
  const streaming = await db
    .selectFrom("messages")
    .where("chatId", "=", chatId)
    .where("status", "=", "streaming")
    .select("id")
    .executeTakeFirst();
  if (streaming) throw new Busy();
}

async function chatFor(db: Db, message: NewMessage, now: number) {
  if (message.chatId) {
    await refuseWhileStreaming(db, message.chatId);
    return db
      .selectFrom("chats")
      .where("id", "=", message.chatId)
      .select(["id", "leafId", "sessionId"])
      .executeTakeFirstOrThrow();
  }
  const chat = chatRow(now, {
    userId: message.userId,
    projectId: message.projectId ?? null,
    modelId: message.model.id,
    assistantId: message.assistantId ?? null,
    title: firstWords(message.content) || (await nameOfFirst(db, message.fileIds)),
    sessionId: message.sessionId ?? null,
  });
  await insertChat(db, chat);
  return chat;
}

/** The provisional title of a chat that begins with files alone. */
async function nameOfFirst(db: Db, [first]: string[] = []): Promise<string> {
  const file = first && (await db.selectFrom("files").where("id", "=", first).select("name").executeTakeFirst());
  return firstWords(file ? file.name : "Archivos");
}

const showReply = (db: Db, { id, chatId, modelId }: MessageRow, now: number) =>
  showLast(db, { chatId, leafId: id, modelId, lastMessageAt: now });

const showLast = prepared(
  (db, { chatId, ...last }: { chatId: string } & Pick<ChatRow, "leafId" | "modelId" | "lastMessageAt">) =>
    db.updateTable("chats").set(last).where("id", "=", chatId),
);

function emptyReply(question: MessageRow, modelId: string, now: number, runs: Runs): MessageRow {
  return messageRow(now, {
    chatId: question.chatId,
    userId: question.userId,
    parentId: question.id,
    role: "assistant",
    status: "streaming",
    modelId,
    ...runs.signature(),
  });
}

const started = (reply: MessageRow, userMessageId: string | null): Started => ({
  chatId: reply.chatId,
  userMessageId,
  messageId: reply.id,
  modelId: reply.modelId,
});

/** Empties the composer that a message came from. */
export async function clearDraft(db: Db, message: Pick<NewMessage, "chatId" | "projectId" | "userId">): Promise<void> {
  if (message.chatId) await db.updateTable("chats").set({ draft: null }).where("id", "=", message.chatId).execute();
  else if (message.projectId) {
    await db
      .updateTable("projects")
      .set({ draft: null })
      .where("id", "=", message.projectId)
      .where("userId", "=", message.userId)
      .execute();
  } else await clearOwnDraft(db, { userId: message.userId });
}

const clearOwnDraft = prepared((db, { userId }: { userId: string }) =>
  db.updateTable("users").set({ draft: null }).where("id", "=", userId).where("draft", "is not", null),
);

/** Looks for an earlier message with the same key: its answer if it is the same message, its row if its reply was deleted. */
async function findSent(
  db: Db,
  { userId, key, content, fileIds = [] }: NewMessage,
): Promise<{ sent?: Started; question?: MessageRow } | undefined> {
  if (!key) return;
  const question = await db
    .selectFrom("messages")
    .where("userId", "=", userId)
    .where("key", "=", key)
    .selectAll()
    .executeTakeFirst();
  if (!question) return;
  // A message that was joined to another, while both waited, ends in its own text.
  if (question.content !== content && !question.content.endsWith(`\n\n${content}`)) return {};
  const sent = await db.selectFrom("attachments").where("messageId", "=", question.id).select("fileId").execute();
  const before = await bytesOf(
    db,
    sent.flatMap(({ fileId }) => fileId ?? []),
  );
  if (before !== (await bytesOf(db, fileIds))) return {};
  const reply = await db
    .selectFrom("messages")
    .where("parentId", "=", question.id)
    .orderBy("id")
    .selectAll()
    .executeTakeFirst();
  return reply ? { sent: started(reply, question.id) } : { question };
}
