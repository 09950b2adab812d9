import { setImmediate } from "node:timers/promises";
import type { Db } from "./engine.server.ts";

// Deleting this many messages takes some ms with SQLite, which runs on the thread that serves everybody.
const atOnce = 200;

/**
 * Deletes the messages of a chat or of a person that is about to be deleted, newest first, in small steps; the last few are left for that
 * deletion. One statement for ten thousand messages would keep everybody waiting for a quarter of a second. After an interruption, an
 * earlier state of the chat is left, to be deleted again.
 */
export async function deleteMessages(db: Db, of: { chatId: string } | { userId: string }): Promise<void> {
  const [column, id] = "chatId" in of ? (["chatId", of.chatId] as const) : (["userId", of.userId] as const);
  for (;;) {
    const rows = await db
      .selectFrom("messages")
      .where(column, "=", id)
      .orderBy("id", "desc")
      .limit(atOnce)
      .select("id")
      .execute();
    if (rows.length < atOnce) return;
    const ids = rows.map((row) => row.id);
    await db.deleteFrom("messages").where("id", "in", ids).execute();
    await setImmediate();
  }
}
