import { v7 as newId } from "uuid";
import type { Db } from "../db/connection.server.ts";
import type { PartRow } from "../db/tables.ts";

/** A stretch of a reply's text, from this offset up to where the next part stands. */
export type TextPart = { kind: "text"; at: number };
/** What the model thought aloud, at this offset of the reply's text. Times in epoch ms. */
export type ReasoningPart = {
  kind: "reasoning";
  at: number;
  text: string;
  startedAt: number;
  /** null while it grows, and if the server was killed meanwhile. */
  finishedAt: number | null;
};
export type ReplyPart = TextPart | ReasoningPart;
/** A part to be stored, with its place in the reply. */
export type NumberedPart = { n: number; part: ReasoningPart };

/** A reply as its readers need it: its whole text, and its parts in order. */
export type ReplyState = { text: string; parts: ReplyPart[] };

export type StoredReplyPart = Pick<PartRow, "n" | "at" | "text" | "createdAt" | "finishedAt">;

/** The parts of a stored reply. `rows` are in the order of `n`; the numbers between them are parts of the text. */
export function partsOf(content: string, rows: StoredReplyPart[]): ReplyPart[] {
  const parts: ReplyPart[] = [];
  let at = 0;
  for (const row of rows) {
    if (parts.length < row.n) parts.push({ kind: "text", at });
    at = row.at;
    const { text, createdAt: startedAt, finishedAt } = row;
    parts.push({ kind: "reasoning", at, text, startedAt, finishedAt });
  }
  if (content.length > at) parts.push({ kind: "text", at });
  return parts;
}

/** Where a part of a text ends: where the next part stands. */
export const endOfText = ({ text, parts }: ReplyState, n: number): number => parts[n + 1]?.at ?? text.length;

/** How long a thought took in ms; null if that is not known. */
export const thoughtFor = ({ startedAt, finishedAt }: ReasoningPart): number | null =>
  finishedAt === null ? null : finishedAt - startedAt;

/** The stored parts of messages, by message, in order. Those that are text alone have none. */
export async function storedParts(db: Db, messageIds: string[]): Promise<Map<string, StoredReplyPart[]>> {
  return messageIds.length === 0
    ? new Map()
    : byMessage(await partRows(db).where("messageId", "in", messageIds).execute());
}

/** The same for all messages of a chat. */
export async function storedPartsOfChat(db: Db, chatId: string): Promise<Map<string, StoredReplyPart[]>> {
  const messages = db.selectFrom("messages").where("chatId", "=", chatId).select("id");
  return byMessage(await partRows(db).where("messageId", "in", messages).execute());
}

const partRows = (db: Db) =>
  db
    .selectFrom("parts")
    .orderBy("messageId")
    .orderBy("n")
    .select(["messageId", "n", "at", "text", "createdAt", "finishedAt"]);

const byMessage = (rows: (StoredReplyPart & { messageId: string })[]) =>
  Map.groupBy(rows, ({ messageId }) => messageId);

/** Stores these parts of a reply, each in place of what was stored of it. Text is not among them: it lies in the message. */
export async function storeParts(db: Db, messageId: string, parts: NumberedPart[], now: number): Promise<void> {
  for (const { n, part } of parts) {
    const { kind, at, text, startedAt, finishedAt } = part;
    const row = { messageId, n, kind, at, text, createdAt: startedAt, updatedAt: now, finishedAt };
    await db
      .insertInto("parts")
      .values({ id: newId(), ...row })
      .onConflict((conflict) => conflict.columns(["messageId", "n"]).doUpdateSet({ text, finishedAt, updatedAt: now }))
      .execute();
  }
}
