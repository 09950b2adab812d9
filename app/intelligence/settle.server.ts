import type { Db } from "../db/connection.server.ts";
import { indexText } from "../db/search.server.ts";
import type { MessageRow, ModelRow } from "../db/tables.ts";
import type { EndStatus, Run } from "./run.server.ts";
import { storePrompt } from "./stored-prompt.server.ts";
import { estimateUsage, settleUsage } from "./usage.server.ts";

/** Stores how a reply has ended, in one transaction: its text and status, what it used, what it was made of, where it is found. */
export async function settle(db: Db, run: Run, reply: MessageRow, model: ModelRow, status: EndStatus): Promise<void> {
  const now = Date.now();
  // A reply that was cut brings no count of its own, and has cost all the same.
  const counted = run.usage.outputTokens > 0 || model.provider === "local" || !run.text;
  const own = counted ? run.usage : estimateUsage(run.promptLength, run.text.length);
  const usage = {
    inputTokens: own.inputTokens + run.spent.inputTokens,
    outputTokens: own.outputTokens + run.spent.outputTokens,
  };
  await db.transaction().execute(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable("messages")
      .set({
        content: run.text,
        status,
        error: run.error ?? null,
        sources: sourcesOf(run),
        ...own,
        finishedAt: now,
        updatedAt: now,
      })
      .where("id", "=", run.messageId)
      .where("status", "=", "streaming")
      .executeTakeFirst();
    const chat = await trx
      .updateTable("chats")
      .set({ lastMessageAt: now })
      .where("id", "=", reply.chatId)
      .returning("sessionId")
      .executeTakeFirst();
    await settleUsage(trx, reply.userId, model, usage, now);
    if (run.prompt && numUpdatedRows > 0n) await storePrompt(trx, run.messageId, run.prompt);
    // The local assistant's replies are quotes already: finding them again would quote quotes.
    if (model.provider !== "local" && !chat?.sessionId && run.text && numUpdatedRows > 0n) {
      await trx.deleteFrom("passages").where("messageId", "=", run.messageId).execute();
      await indexText(trx, run.text, reply.userId, { messageId: run.messageId, chatId: reply.chatId });
    }
  });
}

/** A run's sources as they are stored. */
export const sourcesOf = ({ sources }: Run) => (sources.length > 0 ? JSON.stringify(sources) : null);
