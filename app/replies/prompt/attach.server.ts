import { v7 as newId } from "uuid";
import type { Db } from "../../db/engine.server.ts";
import type { MessageRow } from "../../db/tables.ts";
import { CannotReply } from "../cannot-reply.server.ts";

/**
 * Attaches files to a message. Temporary ones are kept from now on or, in a temporary chat, deleted with its session.
 * Throws CannotReply.
 */
export async function attach(db: Db, message: MessageRow, fileIds: string[], sessionId: string | null): Promise<void> {
  if (fileIds.length === 0) return;
  const files = await db
    .selectFrom("files")
    .where("id", "in", fileIds)
    .where("userId", "=", message.userId)
    .select(["id", "name", "mediaType", "ready", "problem"])
    .execute();
  const rows = fileIds.map((fileId, position) => {
    const file = files.find(({ id }) => id === fileId);
    if (!file) throw new CannotReply("fileIds", "Uno de los archivos ya no existe. Quítalo o adjúntalo otra vez.");
    const { name, mediaType, ready, problem } = file;
    if (problem !== null) throw new CannotReply("fileIds", `No se ha podido leer «${name}»: ${problem} Quítalo.`);
    if (!ready) {
      throw new CannotReply(
        "fileIds",
        `«${name}» todavía se está leyendo. Espera un momento y envía el mensaje otra vez.`,
      );
    }
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

/** The sorted content hashes of files. Compared instead of ids, because a picture uploaded twice has two ids. */
export async function bytesOf(db: Db, fileIds: string[]): Promise<string> {
  if (fileIds.length === 0) return "";
  const rows = await db.selectFrom("files").where("id", "in", fileIds).select("sha256").execute();
  return rows
    .map(({ sha256 }) => sha256)
    .sort()
    .join();
}
