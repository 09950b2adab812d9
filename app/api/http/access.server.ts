import type { ExpressionBuilder } from "kysely";
import type { Db } from "../../db/connection.server.ts";
import { prepared } from "../../db/prepared.server.ts";
import { inProjectOf, shownTo } from "../../db/shared-work.server.ts";
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

/** The file, read or not, if the person owns it or is an admin. Throws 404, also for another session's file. */
export async function findFile({ db }: Services, person: Person, fileId: string): Promise<FileRow> {
  return db
    .selectFrom("files")
    .where("id", "=", fileId)
    .where(ofSession(person))
    .$if(person.role !== "admin", (query) => query.where("userId", "=", person.id))
    .selectAll()
    .executeTakeFirstOrThrow(notFound);
}

/** The chat, if the person may read it: also what others show to them, as members of its project or of a group. Throws 404. */
export async function seeChat({ db }: Services, person: Person, chatId: string): Promise<ChatRow> {
  const find = person.role === "admin" ? findAnyChat : findShownChat;
  const [row] = (await find(db, { chatId, userId: person.id, sessionId: person.sessionId })).rows;
  if (!row) throw notFound();
  return row;
}

type Seen = { chatId: string; userId: string; sessionId: string };

const anyChat = (db: Db, { chatId, sessionId }: Seen) =>
  db.selectFrom("chats").where("id", "=", chatId).where(inSession({ sessionId })).selectAll();
const findAnyChat = prepared(anyChat);
const findShownChat = prepared((db, seen: Seen) =>
  anyChat(db, seen).where((e) =>
    e.or([e("userId", "=", seen.userId), e.and([e("sessionId", "is", null), shownTo(seen.userId)])]),
  ),
);

/** The message, if the person may read its chat. Throws 404. */
export async function seeMessage(services: Services, person: Person, messageId: string): Promise<MessageRow> {
  const message = await services.db
    .selectFrom("messages")
    .where("id", "=", messageId)
    .selectAll()
    .executeTakeFirstOrThrow(notFound);
  await seeChat(services, person, message.chatId);
  return message;
}

/** The project, if the person owns it, is a member of it, or is an admin. Throws 404. */
export async function seeProject({ db }: Services, person: Person, projectId: string): Promise<ProjectRow> {
  return db
    .selectFrom("projects")
    .where("id", "=", projectId)
    .$if(person.role !== "admin", (query) => query.where(inProjectOf("projects.id", person.id)))
    .selectAll()
    .executeTakeFirstOrThrow(notFound);
}

/** Whether the person may begin chats in a project and add documents to it. */
export async function writesInProject({ db }: Services, person: Person, projectId: string): Promise<boolean> {
  const found = await db
    .selectFrom("projects")
    .leftJoin("projectMembers as m", (join) =>
      join.onRef("m.projectId", "=", "projects.id").on("m.userId", "=", person.id).on("m.role", "=", "writes"),
    )
    .where("projects.id", "=", projectId)
    .where((e) => e.or([e("projects.userId", "=", person.id), e("m.id", "is not", null)]))
    .select("projects.id")
    .executeTakeFirst();
  return found !== undefined;
}

/** Condition on files: the person's own, documents of a project that they are in, or sent in a chat that they may read. */
export const maySeeFile =
  (person: Pick<Person, "id" | "role" | "sessionId">) => (e: ExpressionBuilder<Tables, "files">) => {
    if (person.role === "admin") return ofSession(person)(e);
    const isShown = e.exists(
      e
        .selectFrom("attachments")
        .innerJoin("messages", "messages.id", "attachments.messageId")
        .innerJoin("chats", "chats.id", "messages.chatId")
        .whereRef("attachments.fileId", "=", "files.id")
        .where("chats.sessionId", "is", null)
        .where(shownTo(person.id))
        .select("attachments.id"),
    );
    const isOthers = e.and([
      e("files.sessionId", "is", null),
      e.or([inProjectOf("files.projectId", person.id), isShown]),
    ]);
    return e.and([ofSession(person)(e), e.or([e("files.userId", "=", person.id), isOthers])]);
  };

/** The file, read or not, if the person may see it. Throws 404. */
export async function seeFile({ db }: Services, person: Person, fileId: string): Promise<FileRow> {
  return db
    .selectFrom("files")
    .where("files.id", "=", fileId)
    .where(maySeeFile(person))
    .selectAll("files")
    .executeTakeFirstOrThrow(notFound);
}

/** Stops replies in a chat before messages are deleted. */
export async function stopReplies({ db, runs }: Services, chatId: string): Promise<void> {
  const streaming = db.selectFrom("messages").where("chatId", "=", chatId).where("status", "=", "streaming");
  const replies = await streaming.select("id").execute();
  await Promise.all(replies.map(({ id }) => runs.stop(id)));
}
