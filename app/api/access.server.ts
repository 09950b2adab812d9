import type { ExpressionBuilder } from "kysely";
import type { ChatRow, FileRow, MessageRow, ProjectRow, Tables } from "../db/tables.ts";
import type { Person, Services } from "./env.server.ts";
import { notFound } from "./problem.server.ts";

/** A temporary chat is its session's alone: for everyone else, an admin too, it is not there. */
export const inSession =
  ({ sessionId }: Pick<Person, "sessionId">) =>
  (e: ExpressionBuilder<Tables, "chats">) =>
    e.or([e("chats.sessionId", "is", null), e("chats.sessionId", "=", sessionId)]);

/** The same for a file that was sent in one. */
export const ofSession =
  ({ sessionId }: Pick<Person, "sessionId">) =>
  (e: ExpressionBuilder<Tables, "files">) =>
    e.or([e("files.sessionId", "is", null), e("files.sessionId", "=", sessionId)]);

/** A chat that the person may see: its owner's, or any for an admin. Throws 404. */
export async function findChat({ db }: Services, person: Person, chatId: string): Promise<ChatRow> {
  const row = await db
    .selectFrom("chats")
    .where("id", "=", chatId)
    .where(inSession(person))
    .$if(person.role !== "admin", (query) => query.where("userId", "=", person.id))
    .selectAll()
    .executeTakeFirst();
  if (!row) throw notFound();
  return row;
}

/** A message that the person may see: its owner's, or any for an admin. Throws 404. */
export async function findMessage({ db }: Services, person: Person, messageId: string): Promise<MessageRow> {
  const row = await db
    .selectFrom("messages")
    .innerJoin("chats", "chats.id", "messages.chatId")
    .where("messages.id", "=", messageId)
    .where(inSession(person))
    .$if(person.role !== "admin", (query) => query.where("messages.userId", "=", person.id))
    .selectAll("messages")
    .executeTakeFirst();
  if (!row) throw notFound();
  return row;
}

/** A project that the person may see: its owner's, or any for an admin. Throws 404. */
export async function findProject({ db }: Services, person: Person, projectId: string): Promise<ProjectRow> {
  const row = await db
    .selectFrom("projects")
    .where("id", "=", projectId)
    .$if(person.role !== "admin", (query) => query.where("userId", "=", person.id))
    .selectAll()
    .executeTakeFirst();
  if (!row) throw notFound();
  return row;
}

/** A file that the person may see: its owner's, or any for an admin. Throws 404. */
export async function findFile({ db }: Services, person: Person, fileId: string): Promise<FileRow> {
  const row = await db
    .selectFrom("files")
    .where("id", "=", fileId)
    .where("ready", "=", 1)
    .where(ofSession(person))
    .$if(person.role !== "admin", (query) => query.where("userId", "=", person.id))
    .selectAll()
    .executeTakeFirst();
  if (!row) throw notFound();
  return row;
}

/** Ends what is being written in a chat, before some of it is deleted. */
export async function stopReplies({ db, runs }: Services, chatId: string): Promise<void> {
  const streaming = db.selectFrom("messages").where("chatId", "=", chatId).where("status", "=", "streaming");
  const replies = await streaming.select("id").execute();
  await Promise.all(replies.map(({ id }) => runs.stop(id)));
}
