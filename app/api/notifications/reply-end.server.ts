import type { Db } from "../../db/engine.server.ts";
import type { MessageStatus } from "../../db/tables.ts";
import type { Config } from "../../process/config.server.ts";

/** A reply that somebody waits for, in words; `title` is the subject of what they are told. */
type ReplyEnd = {
  userId: string;
  email: string;
  chatId: string;
  /** The session of a temporary chat; null for other chats. */
  sessionId: string | null;
  status: MessageStatus;
  title: string;
  said: string;
};

/** Words about a reply that has ended; undefined if it was deleted. `aiNotice`: line that says that an AI has written it. */
export async function endOfReply(
  db: Db,
  messageId: string | null,
  { aiNotice }: Pick<Config, "aiNotice">,
): Promise<ReplyEnd | undefined> {
  const reply = await db
    .selectFrom("messages as m")
    .innerJoin("chats as c", "c.id", "m.chatId")
    .innerJoin("users as u", "u.id", "m.userId")
    .where("m.id", "=", messageId)
    .select(["m.status", "m.userId", "c.id as chatId", "c.sessionId", "c.title", "u.email"])
    .executeTakeFirst();
  if (!reply) return undefined;
  const { title, said } = wordsFor(reply);
  return { ...reply, title, said: `${said} ${aiNotice}` };
}

function wordsFor({ status, title: named, sessionId }: Pick<ReplyEnd, "status" | "title" | "sessionId">) {
  // Notices tell nothing of a temporary chat, not even its first words.
  const title = sessionId === null ? named : "Conversación temporal";
  if (status === "waiting") {
    return {
      title: `«${title}» espera tu permiso`,
      said: "La respuesta que esperabas quiere usar una herramienta y necesita que lo permitas.",
    };
  }
  return {
    title: `«${title}»: la respuesta ya está`,
    said:
      status === "complete"
        ? "La respuesta que esperabas ya está."
        : "La respuesta que esperabas se ha quedado a medias. Ahí dice por qué y cómo seguir.",
  };
}
