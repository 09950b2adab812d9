import { type ExpressionBuilder, sql } from "kysely";
import type { Db } from "../db/engine.server.ts";
import { groupsOf, monthOf } from "../db/people/groups.server.ts";
import { limitsOf } from "../db/people/plans.server.ts";
import { prepared } from "../db/prepared.server.ts";
import { newRow } from "../db/rows.server.ts";
import type { MessageRow, ModelRow, Tables, UsageRow } from "../db/tables.ts";
import { limits } from "../process/limits.ts";
import type { ReplyUsage, Usage } from "./chunk.ts";

type Prices = Pick<ModelRow, "inputPrice" | "outputPrice" | "cachedPrice">;

/** A person has used up their plan or has too many replies at once. `resetsAt` in epoch ms; the API adds it to the sentence in the person's time zone. */
export class LimitReached extends Error {
  readonly resetsAt: number;
  /** True for a plan's limit; false for the limit on concurrent replies. */
  readonly ofPlan: boolean;
  /** True when the refused message was kept as a draft. */
  kept = false;
  /** True for a limit of nothing, which no time ends. */
  isAlways = false;
  constructor(message: string, resetsAt: number, ofPlan = true) {
    super(message);
    this.resetsAt = resetsAt;
    this.ofPlan = ofPlan;
  }
  static always(message: string, resetsAt: number) {
    return Object.assign(new LimitReached(message, resetsAt), { isAlways: true });
  }
}

const day = (now: number) => new Date(now).toISOString().slice(0, 10);

/**
 * Counts a message against the person's plan before the model is called; a reply that goes on after a decision adds no message, but has to
 * be within the plan, too. `ofGuest`: a guest of a room asks, at the same time as others. Throws LimitReached. Call it in a transaction.
 */
export async function reserveUsage(
  db: Db,
  userId: string,
  modelId: string,
  now: number,
  { messages = 1, ofGuest = false } = {},
): Promise<void> {
  if (!ofGuest) await refuseTooMany(db, userId, now);
  await addUsage(db, { userId, modelId, now, messages, inputTokens: 0, outputTokens: 0, cost: 0 });
  await refuseBeyondPlan(db, userId, now);
}

/** Refuses a person who has used up their plan, or their group its budget. Throws LimitReached. */
export async function refuseBeyondPlan(db: Db, userId: string, now: number): Promise<void> {
  const { messagesPerDay, tokensPerMonth, costPerMonth, spent } = await limitsOf(db, userId, now);
  if (spent) {
    throw new LimitReached(`Se ha gastado el presupuesto de este mes de tu grupo «${spent.name}».`, nextMonth(now));
  }
  if (messagesPerDay === null && tokensPerMonth === null && costPerMonth === null) return;
  const used = await usageOf(db, userId, now);
  if (messagesPerDay !== null && used.messagesToday > messagesPerDay) {
    const tomorrow = Date.parse(`${day(now + 86_400_000)}T00:00:00Z`);
    if (messagesPerDay === 0)
      throw LimitReached.always("Has usado los mensajes de hoy: tu cuenta no tiene ninguno.", tomorrow);
    const many = messagesPerDay === 1 ? "el mensaje" : `los ${messagesPerDay} mensajes`;
    throw new LimitReached(`Has usado ${many} de hoy.`, tomorrow);
  }
  if (tokensPerMonth !== null && used.tokensThisMonth >= tokensPerMonth) {
    throw new LimitReached("Has usado los tokens de este mes.", nextMonth(now));
  }
  if (costPerMonth !== null && used.costThisMonth >= costPerMonth) {
    throw new LimitReached("Tus respuestas han costado ya lo que pueden costar este mes.", nextMonth(now));
  }
}

function nextMonth(now: number): number {
  const date = new Date(now);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

/**
 * Refuses a person's next reply while too many are being written. Call it in the transaction that stores it. Throws
 * LimitReached.
 */
async function refuseTooMany(db: Db, userId: string, now: number): Promise<void> {
  const { rows } = await countRunning(db, { userId });
  if (Number(rows[0]?.count) >= limits.repliesAtOnce) throw tooMany(now);
}

const countRunning = prepared((db, { userId }: Pick<MessageRow, "userId">) =>
  db
    .selectFrom("messages")
    .where("status", "=", sql.lit("streaming"))
    .where("userId", "=", userId)
    .where((e) => e.not(e.exists(isOfGuest(e))))
    .select(sql<number>`count(*)`.as("count")),
);

const isOfGuest = (e: ExpressionBuilder<Tables, "messages">) =>
  e
    .selectFrom("chats")
    .innerJoin("sessions", "sessions.id", "chats.sessionId")
    .whereRef("chats.id", "=", "messages.chatId")
    .where("sessions.roomId", "is not", null)
    .select("chats.id");

/** The error for too many replies or completions at once. */
export const tooMany = (now: number) =>
  new LimitReached(
    `Ya se están escribiendo ${limits.repliesAtOnce} respuestas tuyas. Espera a que termine alguna.`,
    now + 5_000,
    false,
  );

/** Usage of two answers together; what no provider has told stays unknown. */
export function addedUsage(a: ReplyUsage, b: Partial<ReplyUsage>): ReplyUsage {
  const names = ["inputTokens", "outputTokens", "reasoningTokens", "cachedTokens", "writtenTokens"] as const;
  const told = names.filter((name) => (a[name] ?? b[name]) !== undefined);
  return { ...a, ...Object.fromEntries(told.map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)])) };
}

// Surcharge for the tokens that Anthropic caches: a quarter, once. Other providers report none.
const writingCosts = 0.25;

/** Cost of an answer by the prices of its model for a million tokens, in their currency. */
export function costOf({ inputPrice, outputPrice, cachedPrice }: Prices, usage: ReplyUsage): number {
  const { inputTokens, outputTokens } = usage;
  // A server may report more than there were input tokens.
  const [cachedTokens = 0, writtenTokens = 0] = [usage.cachedTokens, usage.writtenTokens].map((tokens) =>
    Math.min(tokens ?? 0, inputTokens),
  );
  const input = inputPrice ?? 0;
  const read =
    (inputTokens - cachedTokens + writtenTokens * writingCosts) * input + cachedTokens * (cachedPrice ?? input);
  return (read + outputTokens * (outputPrice ?? 0)) / 1_000_000;
}

/** Tokens of a prompt and a reply by their length: about four characters each. */
export const estimateUsage = (promptLength: number, replyLength: number): Usage => ({
  inputTokens: Math.ceil(promptLength / 4),
  outputTokens: Math.ceil(replyLength / 4),
});

/**
 * Adds the actual usage of a reply, however it ended. Call it in the transaction that ends the reply. Does nothing if the account
 * was deleted meanwhile.
 */
export async function settleUsage(
  db: Db,
  userId: string,
  model: Prices & Pick<ModelRow, "id">,
  usage: ReplyUsage,
  now: number,
): Promise<void> {
  const cost = costOf(model, usage);
  const account = await findAccount(db, { userId });
  if (!account.rows[0]) return;
  const { inputTokens, outputTokens } = usage;
  await addUsage(db, { userId, modelId: model.id, now, messages: 0, inputTokens, outputTokens, cost });
  if (cost > 0) await spend(db, userId, cost, now);
}

/** Adds what a model was asked besides a reply in a chat, as for its title, to its person's usage and to the room's. */
export async function settleInChat(
  db: Db,
  { userId, chatId }: Pick<MessageRow, "userId" | "chatId">,
  model: Prices & Pick<ModelRow, "id">,
  usage: ReplyUsage,
): Promise<void> {
  await settleUsage(db, userId, model, usage, Date.now());
  await spendInRoom(db, chatId, costOf(model, usage));
}

/** Gives back the message of a reply that failed before anything came of it, on the day on which it was counted. */
export async function giveBackMessage(db: Db, { userId, modelId, createdAt }: MessageRow): Promise<void> {
  if (modelId === null) return;
  await addUsage(db, { userId, modelId, now: createdAt, messages: -1, inputTokens: 0, outputTokens: 0, cost: 0 });
}

/** Adds the cost of a reply to the room whose guest has asked for it; nothing in other chats. Call it last in the transaction. */
export async function spendInRoom(db: Db, chatId: string, cost: number): Promise<void> {
  if (cost > 0) await addToRoom(db, { chatId, cost });
}

const addToRoom = prepared((db, { chatId, cost }: { chatId: string; cost: number }) =>
  db
    .updateTable("rooms")
    .set({ spent: sql`spent + ${cost}` })
    .where("id", "=", (e) =>
      e
        .selectFrom("chats")
        .innerJoin("sessions", "sessions.id", "chats.sessionId")
        .where("chats.id", "=", chatId)
        .select("sessions.roomId"),
    ),
);

/** Adds a cost to the groups of a person that have a budget. */
async function spend(db: Db, userId: string, cost: number, now: number): Promise<void> {
  for (const { id, budget } of await groupsOf(db, userId, now)) {
    if (budget === null) continue;
    await db
      .insertInto("groupCosts")
      .values({ ...newRow(now), groupId: id, month: monthOf(now), cost })
      .onConflict((conflict) =>
        conflict.columns(["groupId", "month"]).doUpdateSet({ cost: sql`"groupCosts".cost + ${cost}`, updatedAt: now }),
      )
      .execute();
  }
}

const findAccount = prepared((db, { userId }: Pick<MessageRow, "userId">) =>
  db.selectFrom("users").where("id", "=", userId).select("id"),
);

/** A person's use today (messages) and this month (tokens, and their cost), by UTC. */
export async function usageOf(
  db: Db,
  userId: string,
  now: number,
): Promise<{ messagesToday: number; tokensThisMonth: number; costThisMonth: number }> {
  const today = day(now);
  const { rows } = await sumUsage(db, { userId, today, first: `${monthOf(now)}-01` });
  return {
    messagesToday: Number(rows[0]?.messagesToday),
    tokensThisMonth: Number(rows[0]?.tokensThisMonth),
    costThisMonth: Number(rows[0]?.costThisMonth),
  };
}

const sumUsage = prepared((db, { userId, today, first }: { userId: string; today: string; first: string }) =>
  db
    .selectFrom("usage")
    .where("userId", "=", userId)
    .where("day", ">=", first)
    .select([
      sql<number>`coalesce(sum(case when day = ${today} then messages else 0 end), 0)`.as("messagesToday"),
      sql<number>`coalesce(sum("inputTokens" + "outputTokens"), 0)`.as("tokensThisMonth"),
      sql<number>`coalesce(sum(cost), 0)`.as("costThisMonth"),
    ]),
);

type Counted = Usage & { userId: string; modelId: string; now: number; messages: number; cost: number };

async function addUsage(db: Db, { now, ...counted }: Counted): Promise<void> {
  await addToRow(db, { ...newRow(now), day: day(now), ...counted });
}

const addToRow = prepared((db, row: UsageRow) =>
  db
    .insertInto("usage")
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(["userId", "day", "modelId"]).doUpdateSet({
        messages: sql`usage.messages + ${row.messages}`,
        inputTokens: sql`usage."inputTokens" + ${row.inputTokens}`,
        outputTokens: sql`usage."outputTokens" + ${row.outputTokens}`,
        cost: sql`usage.cost + ${row.cost}`,
        updatedAt: row.updatedAt,
      }),
    ),
);
