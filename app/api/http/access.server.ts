import type { ExpressionBuilder } from "kysely";
import type { ChatRow, FileRow, MessageRow, ProjectRow, Tables } from "../../db/tables.ts";
import type { Person, Services } from "../env.server.ts";
import { notFound } from "./problem.server.ts";

/** Condition on chats: a temporary chat is visible only to its session, not even to admins. */
export const inSession =
  ({ sessionId }: Pick<Person, "sessionId">) =>
  (e: ExpressionBuilder<Tables, "chats">) =>
    e.or([e("chats.sessionId", "is", null), e("chats.sessionId", "=", sessionId)]);

/** The same condition for files that were sent in a temporary chat. */
export const ofSession =
  ({ sessionId }: Pick<Person, "sessionId">) =>
  (e: ExpressionBuilder<Tables, "files">) =>
    e.or([e("files.sessionId", "is", null), e("files.sessionId", "=", sessionId)]);

/** The chat, if the person owns it or is an admin. Throws 404, also for another session's temporary chat. */
export async function findChat({ db }: Services, person: Person, chatId: string): Promise<ChatRow> {
  return db
    .selectFrom("chats")
    .where("id", "=", chatId)
    .where(inSession(person))
    .$if(person.role !== "admin", (query) => query.where("userId", "=", person.id))
    .selectAll()
    .executeTakeFirstOrThrow(notFound);
}

/** The message, if the person owns it or is an admin. Throws 404, also for another session's temporary chat. */
export async function findMessage({ db }: Services, person: Person, messageId: string): Promise<MessageRow> {
  return db
    .selectFrom("messages")
    .innerJoin("chats", "chats.id", "messages.chatId")
    .where("messages.id", "=", messageId)
    .where(inSession(person))
    .$if(person.role !== "admin", (query) => query.where("messages.userId", "=", person.id))
    .selectAll("messages")
    .executeTakeFirstOrThrow(notFound);
}

/** The project, if the person owns it or is an admin. Throws 404. */
export async function findProject({ db }: Services, person: Person, projectId: string): Promise<ProjectRow> {
  return db
    .selectFrom("projects")
    .where("id", "=", projectId)
    .$if(person.role !== "admin", (query) => query.where("userId", "=", person.id))
    .selectAll()
    .executeTakeFirstOrThrow(notFound);
}

/** The file, if it is ready and the person owns it or is an admin. Throws 404, also for another session's file. */
export async function findFile({ db }: Services, person: Person, fileId: string): Promise<FileRow> {
  return db
    .selectFrom("files")
    .where("id", "=", fileId)
    .where("ready", "=", 1)
    .where(ofSession(person))
    .$if(person.role !== "admin", (query) => query.where("userId", "=", person.id))
    .selectAll()
    .executeTakeFirstOrThrow(notFound);
}

/** Stops replies in a chat before messages are deleted. */
export async function stopReplies({ db, runs }: Services, chatId: string): Promise<void> {
  const streaming = db.selectFrom("messages").where("chatId", "=", chatId).where("status", "=", "streaming");
  const replies = await streaming.select("id").execute();
  await Promise.all(replies.map(({ id }) => runs.stop(id)));
}
