import type { Db, Engine, Trx } from "../db/engine.server.ts";
import { limits } from "../process/limits.ts";
import { storedJson } from "../process/text/json.ts";
import { CannotReply } from "./cannot-reply.server.ts";

/** A message that waits until the reply that is being written in its chat has ended. A chat has one. */
export type QueuedMessage = {
  content: string;
  modelId?: string | undefined;
  assistantId?: string | null | undefined;
  /** The message that this one follows; without it, the chat's last message at the time of sending. */
  parentId?: string | null | undefined;
  fileIds: string[];
  /** Idempotency keys of the messages that were joined into this one; the last key becomes the message's. */
  keys: string[];
  /** Value of the `Time-Zone` header that it came with. */
  zone?: string | undefined;
  /** Sentence that says why it could not be sent; it then waits until its author sends it again. */
  problem?: string;
};

export const parseQueued = (stored: string | null): QueuedMessage | null =>
  stored ? { keys: [], ...storedJson<Omit<QueuedMessage, "keys">>(stored) } : null;

/** The queued message was changed, taken back or sent meanwhile. */
export class TakenBack extends Error {
  override name = "TakenBack";
}

/** Removes a chat's waiting message. Throws TakenBack if none waits or, with `stored`, if another one waits. */
export async function takeQueued(db: Db, chatId: string, stored?: string): Promise<void> {
  const any = db.updateTable("chats").set({ queued: null }).where("id", "=", chatId).where("queued", "is not", null);
  const taken = stored === undefined ? any : any.where("queued", "=", stored);
  const { numUpdatedRows } = await taken.executeTakeFirst();
  if (numUpdatedRows === 0n) throw new TakenBack();
}

/**
 * Queues a message behind the running reply of a chat. If a message waits there already, the text and files are added to it. Answers
 * whether there was a running reply; without one nothing is stored. Throws CannotReply if both together are too long.
 */
export async function queueMessage(trx: Trx, engine: Engine, chatId: string, message: QueuedMessage): Promise<boolean> {
  // Rows are locked in the same order as at the end of a reply, which afterwards looks for waiting messages.
  const running = await trx
    .selectFrom("messages")
    .where("chatId", "=", chatId)
    .where("status", "=", "streaming")
    .select("id")
    .$if(engine === "postgres", (query) => query.forUpdate())
    .executeTakeFirst();
  if (!running) return false;
  const { queued } = await trx
    .selectFrom("chats")
    .where("id", "=", chatId)
    .select("queued")
    .$if(engine === "postgres", (query) => query.forUpdate())
    .executeTakeFirstOrThrow();
  const before = parseQueued(queued);
  // A repeated send.
  if (before && message.keys.some((key) => before.keys.includes(key))) return true;
  const joined = before ? join(before, message) : message;
  await trx
    .updateTable("chats")
    .set({ queued: JSON.stringify(joined) })
    .where("id", "=", chatId)
    .execute();
  return true;
}

function join(before: QueuedMessage, message: QueuedMessage): QueuedMessage {
  const content = [before.content, message.content].filter(Boolean).join("\n\n");
  const fileIds = [...new Set([...before.fileIds, ...message.fileIds])];
  if (content.length > limits.message || fileIds.length > limits.filesPerMessage) {
    throw new CannotReply(
      "content",
      "Ya espera otro mensaje, y los dos juntos no caben en uno. Espera a que se envíe.",
    );
  }
  return { ...message, content, fileIds, keys: [...before.keys, ...message.keys] };
}
