import { v7 as newId } from "uuid";
import type { Db } from "../db/connection.server.ts";
import type { MessageRow } from "../db/tables.ts";
import { CannotReply } from "./cannot-reply.server.ts";

/** Sends files along with a message; from now on they stay, or end with the chat's session. Throws CannotReply. */
export async function attach(db: Db, message: MessageRow, fileIds: string[], sessionId: string | null): Promise<void> {
  if (fileIds.length === 0) return;
  const files = await db
    .selectFrom("files")
    .where("id", "in", fileIds)
    .where("userId", "=", message.userId)
    .where("ready", "=", 1)
    .select(["id", "name", "mediaType"])
    .execute();
  const rows = fileIds.map((fileId, position) => {
    const file = files.find(({ id }) => id === fileId);
    if (!file) throw new CannotReply("fileIds", "Uno de los archivos ya no existe. Quítalo o adjúntalo otra vez.");
    const { name, mediaType } = file;
    return {
      id: newId(),
      createdAt: message.createdAt,
      updatedAt: message.createdAt,
      messageId: message.id,
      fileId,
      name,
      mediaType,
      position,
    };
  });
  await db.insertInto("attachments").values(rows).execute();
  const kept = sessionId ? { sessionId } : { temporary: 0 as const, sessionId: null };
  await db.updateTable("files").set(kept).where("id", "in", fileIds).where("temporary", "=", 1).execute();
}

/** What files hold: the same picture sent twice by a double click is two files. */
export async function bytesOf(db: Db, fileIds: string[]): Promise<string> {
  if (fileIds.length === 0) return "";
  const rows = await db.selectFrom("files").where("id", "in", fileIds).select("sha256").execute();
  return rows
    .map(({ sha256 }) => sha256)
    .sort()
    .join();
}
