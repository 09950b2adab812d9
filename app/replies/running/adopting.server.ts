import type { ExpressionBuilder } from "kysely";
import type { Artifacts } from "../../artifacts/artifacts.server.ts";
import type { Db, Trx } from "../../db/engine.server.ts";
import { releaseNotices } from "../../db/reply-notices.server.ts";
import type { MessageRow, ModelRow, Tables } from "../../db/tables.ts";
import { tellWebhooks } from "../../db/webhooks.server.ts";
import type { Usage } from "../chunk.ts";
import { cutCalls, partsOf, type ReplyPart, storedParts } from "../parts.server.ts";
import { costOf, estimateUsage, settleUsage, spendInRoom } from "../usage.server.ts";

/** How often a reply is resumed automatically: a reply that crashes its process each time must not do so for ever. */
const takeoversAtMost = 3;

/** The process that adopts, the time, and the limit for abandoned runs: no sign of life since `before`. Times by the shared clock. */
export type Adopting = { writer: string; before: number; now: number };

/** A reply that this process has taken, and the data to go on with it; without `way` the reply has ended as interrupted. */
export type Adopted = { reply: MessageRow; way: Way | undefined };
type Way = { question: MessageRow; model: ModelRow; parts: ReplyPart[] };

/** The ids of replies whose process has given no sign of life since `before`. */
export async function abandoned(db: Db, before: number): Promise<string[]> {
  const rows = await db.selectFrom("messages").where(isAbandoned(before)).orderBy("id").select("id").execute();
  return rows.map(({ id }) => id);
}

const isAbandoned = (before: number) => (e: ExpressionBuilder<Tables, "messages">) =>
  e.and([
    e("messages.status", "=", "streaming"),
    e.or([e("messages.heartbeatAt", "<", before), e("messages.heartbeatAt", "is", null)]),
  ]);

/**
 * Takes an abandoned reply for this process, or ends it as interrupted if it can't go on. Its cost is counted, and calls that were under
 * way are cut off. Undefined if another process was faster, or the reply's own process is alive again.
 */
export async function adopt(
  { db, artifacts }: { db: Db; artifacts: Artifacts },
  id: string,
  adopting: Adopting,
): Promise<Adopted | undefined> {
  try {
    return await db.transaction().execute((trx) => take(trx, artifacts, id, adopting));
  } catch (error) {
    if (error instanceof TakenByAnother) return undefined;
    throw error;
  }
}

/** Thrown to roll back the counted usage. */
class TakenByAnother extends Error {}

async function take(trx: Trx, artifacts: Artifacts, id: string, { writer, before, now }: Adopting): Promise<Adopted> {
  const found = await trx.selectFrom("messages").where("id", "=", id).selectAll().executeTakeFirst();
  if (!found) throw new TakenByAnother();
  const { modelId, parentId, inputTokens, outputTokens, heartbeatAt } = found;
  const model = await trx.selectFrom("models").where("id", "=", modelId).selectAll().executeTakeFirst();
  const question = await trx.selectFrom("messages").where("id", "=", parentId).selectAll().executeTakeFirst();
  const cost = model && uncounted(found, model);
  // Counted before the message is locked, in the same order as at the end of a reply.
  if (cost) await settleUsage(trx, found.userId, model, cost, now);
  // A run that its process has handed over (`heartbeatAt` 0) has not crashed that process.
  const takeovers = found.takeovers + (heartbeatAt === 0 ? 0 : 1);
  const mayGoOn = model?.enabled === 1 && model.resumes === 1 && takeovers <= takeoversAtMost;
  const way = mayGoOn && question ? { question, model } : undefined;
  const reply = await trx
    .updateTable("messages")
    .set({ writer, takeovers, heartbeatAt: now, updatedAt: now, promptLength: null })
    .$if(!way, (update) => update.set({ status: "interrupted", finishedAt: now }))
    .$if(cost !== undefined, (update) =>
      update.set({
        inputTokens: (inputTokens ?? 0) + (cost?.inputTokens ?? 0),
        outputTokens: (outputTokens ?? 0) + (cost?.outputTokens ?? 0),
        ...(cost && model && { cost: (found.cost ?? 0) + costOf(model, cost) }),
      }),
    )
    .where("id", "=", id)
    .where(isAbandoned(before))
    .returningAll()
    .executeTakeFirst();
  if (!reply) throw new TakenByAnother();
  if (!way) {
    await artifacts.endGrowing(trx, reply.parentId ?? "", modelId, now);
    await releaseNotices(trx, id);
    const { chatId, userId } = reply;
    const chat = await trx.selectFrom("chats").where("id", "=", chatId).select("sessionId").executeTakeFirst();
    const about = { messageId: id, chatId, userId, modelId, status: "interrupted" };
    if (!chat?.sessionId) await tellWebhooks(trx, "replyEnded", about, now);
  }
  await cutCalls(trx, id, now);
  await endThoughts(trx, id, now);
  if (cost && model) await spendInRoom(trx, reply.chatId, costOf(model, cost));
  return { reply, way: way && { ...way, parts: partsOf(reply.content, await storedParts(trx, id)) } };
}

/** Estimated usage of the run that was cut off; undefined if the run had not asked its model, or was counted already. */
function uncounted({ promptLength, content, outputTokens }: MessageRow, { provider }: ModelRow): Usage | undefined {
  if (promptLength === null || provider === "local") return;
  const usage = estimateUsage(promptLength, content.length);
  return { ...usage, outputTokens: Math.max(0, usage.outputTokens - (outputTokens ?? 0)) };
}

async function endThoughts(db: Db, messageId: string, now: number): Promise<void> {
  await db
    .updateTable("parts")
    .set({ finishedAt: now, updatedAt: now })
    .where("messageId", "=", messageId)
    .where("kind", "=", "reasoning")
    .where("finishedAt", "is", null)
    .execute();
}
