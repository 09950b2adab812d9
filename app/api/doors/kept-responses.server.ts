import { v7 as newId, stringify } from "uuid";
import type { Db } from "../../db/engine.server.ts";
import { isOrphan } from "../../db/errors.server.ts";
import { planWithoutRoom } from "../../db/people/storage-use.server.ts";
import { chatRow, insertChat, insertMessage, messageRow } from "../../db/rows.server.ts";
import { indexText } from "../../db/search/passages.server.ts";
import type { KeptResponseRow, ModelRow } from "../../db/tables.ts";
import { listOf, parseJson, recordOf } from "../../process/text/json.ts";
import { firstWords } from "../../replies/title.server.ts";
import type { Services } from "../env.server.ts";
import { invalid, Problem } from "../http/problem.server.ts";
import { type Output, partText } from "./response-events.server.ts";
import { type InputItem, keptItems } from "./response-request.server.ts";

// In characters of JSON: the request of one response, and the conversation that a response goes on from.
const keptAtMost = 4_000_000;
const conversationAtMost = 16_000_000;
const responsesAtMost = 1_000;

type Previous = Pick<KeptResponseRow, "id" | "chatId" | "messageId">;

/** A response that begins. `sent`: the items of its request, in the words of the protocol. */
export type Begun = {
  id: string;
  at: number;
  userId: string;
  isKept: boolean;
  sent: unknown[];
  previous: Previous | undefined;
};

/** The ids of a response and of its items contain the row's id without hyphens. */
export const hexOf = (id: string) => id.replaceAll("-", "");
export const responseId = (id: string) => `resp_${hexOf(id)}`;

/** The row's id in the id of a response or of an item; undefined if that id was not made here. */
function rowIn(given: string): string | undefined {
  const hex = /^[a-z]+_([0-9a-f]{32})(?:_\d{1,5})?$/.exec(given)?.[1];
  return hex && stringify(Buffer.from(hex, "hex"));
}

/**
 * The response that a request begins. Throws 422 if the content to keep is too large, or beyond the plan, and 404 if the previous response
 * is not there.
 */
export async function beginResponse(
  db: Db,
  userId: string,
  { input, store, previousId }: { input: unknown; store: boolean; previousId: string | null | undefined },
): Promise<Begun & { items: InputItem[] }> {
  const sent = typeof input === "string" ? [{ role: "user", content: input }] : listOf(input);
  const before = previousId ? await conversationUpTo(db, userId, previousId) : [];
  const items = await withReferences(db, userId, [...before.flatMap(({ items }) => listOf(parseJson(items))), ...sent]);
  if (store) await refuseTooMuch(db, userId, JSON.stringify(sent).length);
  const begun = { id: newId(), at: Date.now(), userId, isKept: store, sent, previous: before.at(-1) };
  return { ...begun, items: keptItems.parse(items) };
}

async function refuseTooMuch(db: Db, userId: string, size: number): Promise<void> {
  if (size > keptAtMost) {
    throw invalid("input", "Es demasiado para guardarlo: envía «store»: false y la conversación cada vez.");
  }
  const full = await planWithoutRoom(db, userId, size);
  if (full === undefined) return;
  throw invalid(
    "store",
    `Tu plan guarda ${full.toLocaleString("es")} MB y ya no cabe más: envía «store»: false, o borra lo que no necesites.`,
  );
}

/** A kept response of a person, with the items that were answered. Throws 404. */
export async function findKept(db: Db, userId: string, given: string) {
  const row = await db
    .selectFrom("responses")
    .innerJoin("messages", "messages.id", "responses.messageId")
    .leftJoin("models", "models.id", "messages.modelId")
    .where("responses.id", "=", rowIn(given) ?? "")
    .where("responses.userId", "=", userId)
    .select(["responses.id", "responses.createdAt", "responses.items", "responses.previousId"])
    .select(["messages.inputTokens", "messages.outputTokens", "messages.reasoningTokens", "messages.cachedTokens"])
    .select("models.externalId as model")
    .executeTakeFirst();
  if (!row) throw notKept(given);
  // Items of the request have ids of other rows, or no ids.
  const own = listOf(parseJson(row.items)).filter((one) => String(recordOf(one)?.id).includes(hexOf(row.id)));
  return { ...row, answered: own };
}

/** The items that a kept response answers, those of the previous responses first, each with an id and a type. Throws 404, 422. */
export async function inputOf(db: Db, userId: string, given: string): Promise<{ id: string; type: string }[]> {
  const conversation = await conversationUpTo(db, userId, given);
  return conversation.flatMap((row, place) => {
    const own = listOf(parseJson(row.items)).map((one) => recordOf(one) ?? {});
    const isLast = place === conversation.length - 1;
    const input = isLast ? own.filter(({ id }) => !String(id).includes(hexOf(row.id))) : own;
    return input.map(({ content, ...more }, n) => ({
      id: `item_${hexOf(row.id)}_${n}`,
      type: "message",
      ...more,
      ...(content !== undefined && { content: inParts(content) }),
    }));
  });
}

const inParts = (content: unknown) => (typeof content === "string" ? [{ type: "input_text", text: content }] : content);

/** Deletes a kept response, not its conversation. Throws 404. */
export async function deleteKept(db: Db, userId: string, given: string): Promise<void> {
  const found = db
    .deleteFrom("responses")
    .where("id", "=", rowIn(given) ?? "")
    .where("userId", "=", userId);
  if ((await found.executeTakeFirst()).numDeletedRows === 0n) throw notKept(given);
}

/** A kept response of a person with all previous responses, the first one first. Throws 404, and 422 if the conversation is too long. */
async function conversationUpTo(db: Db, userId: string, given: string): Promise<KeptResponseRow[]> {
  const found: KeptResponseRow[] = [];
  let length = 0;
  let next: string | null | undefined = rowIn(given) ?? "";
  while (next != null) {
    const row = await keptRow(db, userId, next);
    if (!row) throw notKept(found.length === 0 ? given : responseId(next));
    length += row.items.length;
    if (found.length >= responsesAtMost || length > conversationAtMost) {
      throw invalid("previous_response_id", "La conversación es ya demasiado larga: empieza otra.");
    }
    found.unshift(row);
    next = row.previousId;
  }
  return found;
}

const keptRow = (db: Db, userId: string, id: string): Promise<KeptResponseRow | undefined> =>
  db.selectFrom("responses").where("id", "=", id).where("userId", "=", userId).selectAll().executeTakeFirst();

const notKept = (given: string) =>
  new Problem(404, `La respuesta «${given.slice(0, 60)}» no está guardada aquí, o su conversación se ha borrado.`, {
    errors: { previous_response_id: "No está guardada aquí." },
    code: "previous_response_not_found",
  });

/** The items, with kept items in place of references by id. Throws 404 for a referenced item that is not kept. */
async function withReferences(db: Db, userId: string, items: unknown[]): Promise<unknown[]> {
  const rows = new Map<string, unknown[]>();
  const found: unknown[] = [];
  for (const item of items) {
    const { type, id } = recordOf(item) ?? {};
    if (type !== "item_reference" || typeof id !== "string") {
      found.push(item);
      continue;
    }
    const rowId = rowIn(id) ?? "";
    const kept = rows.get(rowId) ?? listOf(parseJson((await keptRow(db, userId, rowId))?.items ?? "[]"));
    rows.set(rowId, kept);
    const referred = kept.find((one) => recordOf(one)?.id === id);
    if (!referred) throw notKept(id);
    found.push(referred);
  }
  return found;
}

/**
 * Keeps a response that has ended, as a question and a reply in a chat of its person: a new chat, or the chat of the previous response. If
 * that chat has been deleted meanwhile, nothing is kept.
 */
export async function keepResponse(
  { db, changes }: Pick<Services, "db" | "changes">,
  { id, userId, isKept, sent, previous }: Begun,
  { items: answered, usage }: Output,
  model: Pick<ModelRow, "id">,
): Promise<void> {
  if (!isKept) return;
  const now = Date.now();
  const items = JSON.stringify([...sent, ...answered]);
  const question = questionIn(keptItems.parse(sent));
  const keep = db.transaction().execute(async (trx) => {
    const chat = previous ?? (await newChat(trx, now, { userId, modelId: model.id, title: firstWords(question) }));
    const { chatId } = chat;
    // A program's words, which may be anybody's.
    const asked = messageRow(now, { chatId, userId, parentId: chat.messageId, content: question, outside: 1 });
    const reply = messageRow(now, {
      chatId,
      userId,
      parentId: asked.id,
      role: "assistant",
      content: answerIn(answered),
      modelId: model.id,
      inputTokens: usage.input_tokens,
      outputTokens: usage.output_tokens,
      reasoningTokens: usage.output_tokens_details.reasoning_tokens || null,
      cachedTokens: usage.input_tokens_details.cached_tokens || null,
      finishedAt: now,
      outside: 1,
    });
    for (const message of [asked, reply]) {
      await insertMessage(trx, message);
      await indexText(trx, message.content, userId, { messageId: message.id, chatId });
    }
    await trx.updateTable("chats").set({ leafId: reply.id, lastMessageAt: now }).where("id", "=", chatId).execute();
    const row = { id, createdAt: now, updatedAt: now, userId, chatId, messageId: reply.id, items };
    const size = Buffer.byteLength(items);
    await trx
      .insertInto("responses")
      .values({ ...row, size, previousId: previous?.id ?? null })
      .execute();
  });
  await keep.catch((error: unknown) => {
    if (!isOrphan(error)) throw error;
  });
  changes.tell({ userId, what: "chat" });
}

async function newChat(db: Db, now: number, given: Parameters<typeof chatRow>[1]) {
  const chat = chatRow(now, { ...given, titled: 1, title: given.title || "Un programa" });
  await insertChat(db, chat);
  return { chatId: chat.id, messageId: null };
}

/** A program's question, for people to read: the last words of the person, else what its tools have found. */
function questionIn(items: InputItem[]): string {
  const textOf = (segments: object[]) =>
    segments.flatMap((one) => ("text" in one && typeof one.text === "string" ? [one.text] : [])).join("\n");
  const said = items.flatMap((one) => ("role" in one && one.role === "user" ? [textOf(one.content)] : []));
  const found = items.flatMap((one) => ("output" in one ? [textOf(one.output)] : []));
  return said.at(-1) ?? `Resultado de la herramienta:\n${found.join("\n\n")}`;
}

/** An answer, for people to read: its text, and what it calls. */
function answerIn(items: Output["items"]): string {
  const texts = items.flatMap((one) => (one.type === "message" ? one.content.map(partText) : []));
  const calls = items.flatMap((one) => ("name" in one ? [`Llama a la herramienta «${one.name}» del programa.`] : []));
  return [...texts, ...calls].join("\n\n");
}
