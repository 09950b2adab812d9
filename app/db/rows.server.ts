import { v7 as newId } from "uuid";
import { prepared } from "./prepared.server.ts";
import type { ChatRow, MessageRow } from "./tables.ts";

/** Columns that every new row begins with. `now`: epoch ms. */
export const newRow = (now: number) => ({ id: newId(), createdAt: now, updatedAt: now });

/** The row of a new, empty chat; `given` replaces the defaults. */
export function chatRow(now: number, given: Partial<ChatRow> & Pick<ChatRow, "userId" | "title">): ChatRow {
  return {
    ...newRow(now),
    projectId: null,
    modelId: null,
    titled: 0,
    pinned: 0,
    archived: 0,
    lastMessageAt: now,
    draft: null,
    queued: null,
    compared: null,
    leafId: null,
    sessionId: null,
    toolsOff: null,
    assistantId: null,
    ...given,
  };
}

/** The row of a new message, by default a person's and complete; `given` replaces the defaults. */
export function messageRow(
  now: number,
  given: Partial<MessageRow> & Pick<MessageRow, "chatId" | "userId" | "parentId">,
): MessageRow {
  return {
    ...newRow(now),
    role: "user",
    content: "",
    status: "complete",
    modelId: null,
    error: null,
    inputTokens: null,
    outputTokens: null,
    reasoningTokens: null,
    cachedTokens: null,
    pseudonyms: null,
    cost: null,
    sources: null,
    outside: 0,
    edited: 0,
    key: null,
    heartbeatAt: null,
    writer: null,
    takeovers: 0,
    promptLength: null,
    finishedAt: null,
    ...given,
  };
}

export const insertChat = prepared((db, row: ChatRow) => db.insertInto("chats").values(row));
export const insertMessage = prepared((db, row: MessageRow) => db.insertInto("messages").values(row));
