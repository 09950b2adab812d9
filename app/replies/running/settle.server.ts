import { sql } from "kysely";
import type { Artifacts } from "../../artifacts/artifacts.server.ts";
import type { Db, Trx } from "../../db/engine.server.ts";
import { prepared } from "../../db/prepared.server.ts";
import { releaseNotices } from "../../db/reply-notices.server.ts";
import { indexText } from "../../db/search/passages.server.ts";
import type { MessageRow, ModelRow } from "../../db/tables.ts";
import { tellWebhooks } from "../../db/webhooks.server.ts";
import type { ReplyUsage } from "../chunk.ts";
import { numbered, storeParts } from "../parts.server.ts";
import { storePrompt } from "../prompt/stored-prompt.server.ts";
import { addedUsage, costOf, estimateUsage, giveBackMessage, settleUsage, spendInRoom } from "../usage.server.ts";
import type { EndStatus, Run } from "./run.server.ts";

/**
 * Stores the end of a run in one transaction: text, parts, status, usage, prompt and search index. With the status `streaming` the
 * reply is left for another process to go on with.
 */
export async function settle(
  { db, artifacts }: { db: Db; artifacts: Artifacts },
  run: Run,
  reply: MessageRow,
  model: ModelRow,
  status: EndStatus | "streaming",
): Promise<void> {
  const now = Date.now();
  const own = usageOf(run, model);
  const isLeft = status === "streaming";
  // In a reply that goes on, a thought that was taken for text stays text for the readers.
  const { text, parts } = isLeft ? run : run.result;
  const usage = addedUsage(own, run.spent);
  // The cost includes summaries and other words for the search.
  const counted = countedWith(reply, own, run.spentBefore + costOf(model, usage));
  await db.transaction().execute(async (trx) => {
    // Rows are locked in the same order as when a message is sent (usage, then text use, then chat). Another order
    // would deadlock when a person sends a message at the moment when one of their replies ends.
    await settleUsage(trx, reply.userId, model, usage, now);
    const isNothing =
      status === "failed" && !text && parts.length === 0 && usage.inputTokens + usage.outputTokens === 0;
    if (isNothing) await giveBackMessage(trx, reply);
    const { numAffectedRows } = await endReply(trx, {
      id: run.messageId,
      writer: run.writer,
      content: text,
      status,
      error: run.error ?? null,
      sources: sourcesOf(run),
      ...counted,
      finishedAt: isLeft ? null : now,
      updatedAt: now,
      heartbeatAt: isLeft ? 0 : now,
      promptLength: null,
    });
    const { rows } = await noteMessage(trx, { chatId: reply.chatId, now });
    const sessionId = rows[0]?.sessionId;
    if (sessionId) await spendInRoom(trx, reply.chatId, costOf(model, usage));
    const endArtifact = async () => reply.parentId && artifacts.endGrowing(trx, reply.parentId, model.id, now);
    // The reply was ended or taken over by another process, or deleted with its chat.
    if (numAffectedRows === 0n) {
      if (!(await isBeingWritten(trx, run.messageId))) await endArtifact();
      return;
    }
    await storeRest(trx, run, { parts, isRenumbered: run.isRenumbered && !isLeft, now });
    if (run.prompt) await storePrompt(trx, run.messageId, run.prompt);
    if (status === "streaming") return;
    await endArtifact();
    await releaseNotices(trx, run.messageId);
    // Temporary chats are not indexed, and webhooks get nothing about them, not even that they exist.
    if (!sessionId) await tellOfEnd(trx, reply, model, { text, status, now });
  });
  run.usage = own;
  const { inputTokens, outputTokens, reasoningTokens } = counted;
  run.counted = { inputTokens, outputTokens, ...(reasoningTokens !== null && { reasoningTokens }) };
}

/** Use and cost of a reply with those that a run adds: earlier runs were counted when they ended. */
function countedWith(reply: MessageRow, added: ReplyUsage, cost: number) {
  return {
    inputTokens: (reply.inputTokens ?? 0) + added.inputTokens,
    outputTokens: (reply.outputTokens ?? 0) + added.outputTokens,
    reasoningTokens: sumOf(reply.reasoningTokens, added.reasoningTokens),
    cachedTokens: sumOf(reply.cachedTokens, added.cachedTokens),
    cost: (reply.cost ?? 0) + cost,
  };
}

/** A sum of tokens that not every provider tells of; null where none has. */
const sumOf = (before: number | null, added: number | undefined): number | null =>
  added === undefined ? before : (before ?? 0) + added;

type Rest = { parts: Run["parts"]; isRenumbered: boolean; now: number };

/** Stores the parts that are not stored yet; all of them under new numbers where these have changed. */
async function storeRest(trx: Trx, run: Run, { parts, isRenumbered, now }: Rest): Promise<void> {
  if (isRenumbered) await trx.deleteFrom("parts").where("messageId", "=", run.messageId).execute();
  await storeParts(trx, run.messageId, isRenumbered ? numbered(parts) : run.unstored(parts), now);
}

async function isBeingWritten(trx: Trx, id: string): Promise<boolean> {
  const row = await trx.selectFrom("messages").where("id", "=", id).select("status").executeTakeFirst();
  return row?.status === "streaming";
}

type End = { text: string; status: EndStatus; now: number };

/** Lets webhooks and the search know of a reply that has ended. */
async function tellOfEnd(trx: Trx, reply: MessageRow, model: ModelRow, { text, status, now }: End): Promise<void> {
  const { id: messageId, chatId, userId } = reply;
  if (status !== "waiting")
    await tellWebhooks(trx, "replyEnded", { messageId, chatId, userId, modelId: model.id, status }, now);
  // Replies of the local assistant are not indexed, because they would be quoted again.
  if (model.provider !== "local" && text) await index(trx, reply, text);
}

async function index(trx: Trx, { id: messageId, chatId, userId, content }: MessageRow, text: string): Promise<void> {
  // A reply that goes on where it was cut is indexed again as a whole.
  if (content) await trx.deleteFrom("passages").where("messageId", "=", messageId).execute();
  await indexText(trx, text, userId, { messageId, chatId });
}

/** Usage of a run. An interrupted reply reports none, but has cost something: it is estimated. */
function usageOf(run: Run, model: ModelRow): ReplyUsage {
  const written = run.length - run.lengthBefore;
  const wasAsked = run.promptLength > 0;
  const isCounted = run.usage.outputTokens > 0 || model.provider === "local" || written === 0 || !wasAsked;
  return isCounted ? run.usage : estimateUsage(run.promptLength, written);
}

type Ending = "content" | "status" | "error" | "sources" | "finishedAt" | "updatedAt" | "heartbeatAt" | "promptLength";
type Tokens = "inputTokens" | "outputTokens" | "reasoningTokens" | "cachedTokens" | "cost";

const endReply = prepared((db, { id, writer, ...ending }: Pick<MessageRow, "id" | "writer" | Ending | Tokens>) =>
  db
    .updateTable("messages")
    .set(ending)
    .where("id", "=", id)
    .where("status", "=", sql.lit("streaming"))
    .where("writer", "=", writer),
);

const noteMessage = prepared((db, { chatId, now }: { chatId: string; now: number }) =>
  db.updateTable("chats").set({ lastMessageAt: now }).where("id", "=", chatId).returning("sessionId"),
);

/** A run's sources as they are stored. */
export const sourcesOf = ({ sources }: Run) => (sources.length > 0 ? JSON.stringify(sources) : null);
