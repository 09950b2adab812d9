import { sql } from "kysely";
import type { Db } from "../db/connection.server.ts";
import { prepared } from "../db/prepared.server.ts";
import { indexText } from "../db/search.server.ts";
import type { MessageRow, ModelRow } from "../db/tables.ts";
import type { ReplyUsage } from "./chunk.ts";
import { storeParts } from "./parts.server.ts";
import { storePrompt } from "./prompt/stored-prompt.server.ts";
import type { EndStatus, Run } from "./run.server.ts";
import { estimateUsage, settleUsage } from "./usage.server.ts";

/**
 * Stores the end of a reply in one transaction: text, parts, status, usage, prompt and search index.
 */
export async function settle(db: Db, run: Run, reply: MessageRow, model: ModelRow, status: EndStatus): Promise<void> {
  const now = Date.now();
  // An interrupted reply reports no usage, but has cost something: it is estimated.
  const counted = run.usage.outputTokens > 0 || model.provider === "local" || run.length === 0;
  const own: ReplyUsage = counted ? run.usage : estimateUsage(run.promptLength, run.length);
  const { text, parts } = run.result;
  const usage = {
    inputTokens: own.inputTokens + run.spent.inputTokens,
    outputTokens: own.outputTokens + run.spent.outputTokens,
  };
  await db.transaction().execute(async (trx) => {
    // Rows are locked in the same order as when a message is sent (usage, then text use, then chat). Another order
    // would deadlock when a person sends a message at the moment when one of their replies ends.
    await settleUsage(trx, reply.userId, model, usage, now);
    const { numAffectedRows } = await endReply(trx, {
      id: run.messageId,
      content: text,
      status,
      error: run.error ?? null,
      sources: sourcesOf(run),
      inputTokens: own.inputTokens,
      outputTokens: own.outputTokens,
      reasoningTokens: own.reasoningTokens ?? null,
      finishedAt: now,
      updatedAt: now,
    });
    const { rows } = await noteMessage(trx, { chatId: reply.chatId, now });
    // Ended by another process, or deleted with its chat.
    if (numAffectedRows === 0n) return;
    await storeParts(trx, run.messageId, run.unstored(parts), now);
    if (run.prompt) await storePrompt(trx, run.messageId, run.prompt);
    // Replies of the local assistant are not indexed, because they would be quoted again.
    if (model.provider !== "local" && !rows[0]?.sessionId && text) {
      // What goes on where it was cut is indexed again as a whole.
      if (reply.content) await trx.deleteFrom("passages").where("messageId", "=", run.messageId).execute();
      await indexText(trx, text, reply.userId, { messageId: run.messageId, chatId: reply.chatId });
    }
  });
}

type Ending = "content" | "status" | "error" | "sources" | "finishedAt" | "updatedAt";
type Tokens = "inputTokens" | "outputTokens" | "reasoningTokens";

const endReply = prepared((db, { id, ...ending }: Pick<MessageRow, "id" | Ending | Tokens>) =>
  db.updateTable("messages").set(ending).where("id", "=", id).where("status", "=", sql.lit("streaming")),
);

const noteMessage = prepared((db, { chatId, now }: { chatId: string; now: number }) =>
  db.updateTable("chats").set({ lastMessageAt: now }).where("id", "=", chatId).returning("sessionId"),
);

/** A run's sources as they are stored. */
export const sourcesOf = ({ sources }: Run) => (sources.length > 0 ? JSON.stringify(sources) : null);
