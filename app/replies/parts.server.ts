import { sql } from "kysely";
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
/** Where only its beginning was read, `whole` says whether that is all. */
export type PartBeginning = StoredReplyPart & { whole: boolean };

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

/** The stored parts of a message, in order. One that is text alone has none. */
export const storedParts = (db: Db, messageId: string): Promise<StoredReplyPart[]> =>
  inOrder(db).select(partColumns).where("messageId", "=", messageId).execute();

/** The same for all messages of a chat, by message. */
export async function storedPartsOfChat(db: Db, chatId: string): Promise<Map<string, StoredReplyPart[]>> {
  const messages = db.selectFrom("messages").where("chatId", "=", chatId).select("id");
  const rows = await inOrder(db)
    .select(["messageId", ...partColumns])
    .where("messageId", "in", messages)
    .execute();
  return Map.groupBy(rows, ({ messageId }) => messageId);
}

/** The parts of several messages, by message, with the first characters of each: together they may be too long to be read for one page. */
export async function beginningsOfParts(
  db: Db,
  messageIds: string[],
  characters: number,
): Promise<Map<string, PartBeginning[]>> {
  if (messageIds.length === 0) return new Map();
  const rows = await inOrder(db)
    .where("messageId", "in", messageIds)
    .select(["messageId", "n", "at", "createdAt", "finishedAt"])
    .select(sql<string>`substr(text, 1, ${sql.lit(characters)})`.as("text"))
    .select(sql<number>`length(text)`.as("length"))
    .execute();
  const parts = rows.map(({ length, ...row }) => ({ ...row, whole: length <= characters }));
  return Map.groupBy(parts, ({ messageId }) => messageId);
}

const partColumns = ["n", "at", "text", "createdAt", "finishedAt"] as const;
const inOrder = (db: Db) => db.selectFrom("parts").orderBy("messageId").orderBy("n");

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
