import { sql } from "kysely";
import { v7 as newId } from "uuid";
import type { Db } from "../db/engine.server.ts";
import type { CallStatus, PartRow } from "../db/tables.ts";
import { parseJson } from "../process/text/json.ts";
import type { Call } from "./tools/call.ts";
import { originOf } from "./tools/provenance.server.ts";

/** A stretch of a reply's text, from this offset up to where the next part stands. */
export type TextPart = { kind: "text"; at: number };
/** The model's thoughts, at this offset of the reply's text. Times in epoch ms. */
export type ReasoningPart = {
  kind: "reasoning";
  at: number;
  text: string;
  startedAt: number;
  /** null while it grows, and if the server was killed meanwhile. */
  finishedAt: number | null;
};
/** A call of a tool. `text`: its result, as the model is told. */
export type ToolPart = {
  kind: "tool";
  at: number;
  text: string;
  startedAt: number;
  /** Is null until the call is over. */
  finishedAt: number | null;
  status: CallStatus;
  call: Call;
};
/** An image that a tool has made; `text` says what it shows. It is a file of the person. */
export type ImagePart = {
  kind: "image";
  at: number;
  text: string;
  startedAt: number;
  finishedAt: number;
  image: MadeImage;
};
export type MadeImage = { fileId: string; width: number | null; height: number | null };
export type ReplyPart = TextPart | ReasoningPart | ToolPart | ImagePart;
/** A part that is kept as a row of its own. */
export type KeptPart = Exclude<ReplyPart, TextPart>;
/** A part to be stored, with its place in the reply. */
export type NumberedPart = { n: number; part: KeptPart };

/** A reply as its readers need it: its whole text, and its parts in order. */
export type ReplyState = { text: string; parts: ReplyPart[] };

export type StoredReplyPart = Pick<
  PartRow,
  "n" | "kind" | "at" | "text" | "createdAt" | "finishedAt" | "status" | "data"
>;
/** `whole`: whether the text that was read is the whole text of the part. */
export type PartBeginning = StoredReplyPart & { whole: boolean };

/** The parts of a stored reply. `rows` are in the order of `n`; the numbers between them are parts of the text. */
export function partsOf(content: string, rows: StoredReplyPart[]): ReplyPart[] {
  const parts: ReplyPart[] = [];
  let at = 0;
  for (const row of rows) {
    if (parts.length < row.n) parts.push({ kind: "text", at });
    at = row.at;
    parts.push(keptPart(row));
  }
  if (content.length > at) parts.push({ kind: "text", at });
  return parts;
}

function keptPart({ kind, at, text, createdAt: startedAt, finishedAt, status, data }: StoredReplyPart): KeptPart {
  const kept = data === null ? undefined : parseJson(data);
  const common = { at, text, startedAt, finishedAt };
  if (kind === "tool") return { kind, ...common, status: status ?? "interrupted", call: kept as Call };
  if (kind === "image") return { kind, ...common, finishedAt: finishedAt ?? startedAt, image: kept as MadeImage };
  return { kind, ...common };
}

/** Offset at which a part of text ends: the offset of the next part. */
export const endOfText = ({ text, parts }: ReplyState, n: number): number => parts[n + 1]?.at ?? text.length;

/** A part without what its provider wants back. */
export function unsigned(part: ReplyPart): ReplyPart {
  if (part.kind !== "tool") return part;
  const { meta: _meta, thoughts: _thoughts, ...call } = part.call;
  return { ...part, call };
}

/** The parts of a reply that are rows of their own, with their places. */
export const numbered = (parts: ReplyPart[]): NumberedPart[] =>
  parts.flatMap((part, n) => (part.kind === "text" ? [] : [{ n, part: { ...part } }]));

/** How long a thought or a call took in ms; null if that is not known. */
export const timeOf = ({ startedAt, finishedAt }: KeptPart): number | null =>
  finishedAt === null ? null : finishedAt - startedAt;

/** The stored parts of a message, in order. A message of text alone has none. */
export const storedParts = (db: Db, messageId: string): Promise<StoredReplyPart[]> =>
  inOrder(db).select(partColumns).where("messageId", "=", messageId).execute();

/** The stored parts of several messages, by message. */
export async function storedPartsOf(db: Db, messageIds: string[]): Promise<Map<string, StoredReplyPart[]>> {
  const rows = await inOrder(db)
    .select(["messageId", ...partColumns])
    .where("messageId", "in", messageIds)
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
    .select(["messageId", "n", "kind", "at", "createdAt", "finishedAt", "status", "data"])
    .select(sql<string>`substr(text, 1, ${sql.lit(characters)})`.as("text"))
    .select(sql<number>`length(text)`.as("length"))
    .execute();
  const parts = rows.map(({ length, ...row }) => ({ ...row, whole: length <= characters }));
  return Map.groupBy(parts, ({ messageId }) => messageId);
}

const partColumns = ["n", "kind", "at", "text", "createdAt", "finishedAt", "status", "data"] as const;
const inOrder = (db: Db) => db.selectFrom("parts").orderBy("messageId").orderBy("n");

/** Stores these parts of a reply, each in place of its stored version. Text parts are not among them: their text is in the message. */
export async function storeParts(db: Db, messageId: string, parts: NumberedPart[], now: number): Promise<void> {
  for (const { n, part } of parts) {
    const { kind, at, startedAt, finishedAt } = part;
    // PostgreSQL can't store NUL, and all running replies are stored together.
    const text = part.text.replaceAll("\0", "");
    const status = part.kind === "tool" ? part.status : null;
    const data = dataOf(part);
    const origin = part.kind === "tool" ? (originOf(part.call) ?? null) : null;
    const row = {
      messageId,
      n,
      kind,
      at,
      text,
      createdAt: startedAt,
      updatedAt: now,
      finishedAt,
      status,
      data,
      origin,
    };
    const changed = { text, finishedAt, status, data, updatedAt: now };
    await db
      .insertInto("parts")
      .values({ id: newId(), ...row })
      .onConflict((conflict) => conflict.columns(["messageId", "n"]).doUpdateSet(changed))
      .execute();
  }
}

function dataOf(part: KeptPart): string | null {
  const kept = part.kind === "tool" ? part.call : part.kind === "image" ? part.image : undefined;
  return kept ? JSON.stringify(kept) : null;
}

/** Marks the running calls of a reply that nobody writes any more as interrupted. Allowed calls stay: they are still to be made. */
export async function cutCalls(db: Db, messageId: string, now: number): Promise<void> {
  const ofReply = db.updateTable("parts").where("messageId", "=", messageId);
  const over = { finishedAt: now, updatedAt: now };
  await ofReply
    .set({ status: "interrupted", ...over })
    .where("status", "=", "running")
    .execute();
}

/** Marks the calls of a stopped reply: running ones as interrupted, waiting and allowed ones as refused. */
export async function endCalls(db: Db, messageId: string, now: number): Promise<void> {
  await cutCalls(db, messageId, now);
  await db
    .updateTable("parts")
    .set({ status: "refused", text: notDecided, finishedAt: now, updatedAt: now })
    .where("messageId", "=", messageId)
    .where("status", "in", ["waiting", "allowed"])
    .execute();
}

/** Text that tells the model about a call that a person has left undecided. */
export const notDecided = "La persona detuvo la respuesta sin decidir sobre esta llamada.";
