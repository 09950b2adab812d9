import type { Context } from "hono";
import type { ExpressionBuilder } from "kysely";
import type { Db } from "../../db/engine.server.ts";
import { inProjectOf, shownTo } from "../../db/people/shared-work.server.ts";
import { prepared } from "../../db/prepared.server.ts";
import type { ChatRow, FileRow, MessageRow, ProjectRow, Tables } from "../../db/tables.ts";
import type { ApiEnv, Person, Services } from "../env.server.ts";
import { inspect, underInspection } from "../inspections/inspect.server.ts";
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

/**
 * The chat, for people who may change or delete it: its owner, or an administrator, who must not be shown its texts. Throws 404, also
 * for another session's temporary chat.
 */
export async function findChat({ db }: Services, person: Person, chatId: string): Promise<ChatRow> {
  return db
    .selectFrom("chats")
    .where("id", "=", chatId)
    .where(inSession(person))
    .$if(person.role !== "admin", (query) => query.where("userId", "=", person.id))
    .selectAll()
    .executeTakeFirstOrThrow(notFound);
}

/** The message, for people who may delete it: the same people as in `findChat`. */
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

/** The project, for people who may change or delete it: its owner, or an administrator. Throws 404. */
export async function findProject({ db }: Services, person: Person, projectId: string): Promise<ProjectRow> {
  return db
    .selectFrom("projects")
    .where("id", "=", projectId)
    .$if(person.role !== "admin", (query) => query.where("userId", "=", person.id))
    .selectAll()
    .executeTakeFirstOrThrow(notFound);
}

/** The file, read or not, for people who may delete it: its owner, or an administrator. Throws 404, also for another session's file. */
export async function findFile({ db }: Services, person: Person, fileId: string): Promise<FileRow> {
  return db
    .selectFrom("files")
    .where("id", "=", fileId)
    .where(ofSession(person))
    .$if(person.role !== "admin", (query) => query.where("userId", "=", person.id))
    .selectAll()
    .executeTakeFirstOrThrow(notFound);
}

/**
 * The chat, if the person may read it: their own chat, a chat shown to them as a member of its project or of a group, or a chat that they
 * inspect as an administrator. Throws 404, and what `inspect` throws.
 */
export async function seeChat(c: Context<ApiEnv>, chatId: string): Promise<ChatRow> {
  const { person, services } = c.var;
  const seen = { chatId, userId: person.id, sessionId: person.sessionId };
  const [shown] = (await findShownChat(services.db, seen)).rows;
  if (shown) return shown;
  const [row] = person.role === "admin" ? (await findAnyChat(services.db, seen)).rows : [];
  if (!row) throw notFound();
  await inspect(c, { resource: "chat", id: row.id, ownerId: row.userId });
  return row;
}

/** The whole chat, for its owner, or for an administrator who inspects it. Throws 404, and what `inspect` throws. */
export async function openChat(c: Context<ApiEnv>, chatId: string): Promise<ChatRow> {
  const { person, services } = c.var;
  const chat = await findChat(services, person, chatId);
  if (chat.userId !== person.id) await inspect(c, { resource: "chat", id: chat.id, ownerId: chat.userId });
  return chat;
}

/** The chat as lists show it, by its title, if the person may read it or administers. Throws 404. */
export async function lookUpChat({ db }: Services, person: Person, chatId: string): Promise<ChatRow> {
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

/** The message, if the person may read its chat. Throws as `seeChat` does. */
export async function seeMessage(c: Context<ApiEnv>, messageId: string): Promise<MessageRow> {
  const message = await c.var.services.db
    .selectFrom("messages")
    .where("id", "=", messageId)
    .selectAll()
    .executeTakeFirstOrThrow(notFound);
  await seeChat(c, message.chatId);
  return message;
}

/** The project, if the person owns it, is a member of it, or administers and inspects it. Throws 404, and what `inspect` throws. */
export async function seeProject(c: Context<ApiEnv>, projectId: string): Promise<ProjectRow> {
  const { person, services } = c.var;
  const { isIn, ...project } = await services.db
    .selectFrom("projects")
    .where("id", "=", projectId)
    .$if(person.role !== "admin", (query) => query.where(inProjectOf("projects.id", person.id)))
    .selectAll()
    .select(inProjectOf("projects.id", person.id).as("isIn"))
    .executeTakeFirstOrThrow(notFound);
  if (!isIn) await inspect(c, { resource: "project", id: project.id, ownerId: project.userId });
  return project;
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

/** Condition on files: the person's own, documents of a project that they are in, or sent in a chat that is shown to them. */
export const maySeeFile = (person: Pick<Person, "id" | "sessionId">) => (e: ExpressionBuilder<Tables, "files">) => {
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

/** The file as lists show it, by its name, if the person may see it or administers. Throws 404. */
export async function lookUpFile(c: Context<ApiEnv>, fileId: string): Promise<FileRow> {
  const { person, services } = c.var;
  return services.db
    .selectFrom("files")
    .where("files.id", "=", fileId)
    .where(person.role === "admin" ? ofSession(person) : maySeeFile(person))
    .selectAll("files")
    .executeTakeFirstOrThrow(notFound);
}

/** The file, if the person may read what is in it. Throws 404, and what `inspect` throws. */
export async function seeFile(c: Context<ApiEnv>, fileId: string): Promise<FileRow> {
  const { person, services } = c.var;
  const file = await lookUpFile(c, fileId);
  if (file.userId === person.id || person.role !== "admin") return file;
  const { db } = services;
  const shown = db.selectFrom("files").where("files.id", "=", fileId).where(maySeeFile(person)).select("id");
  if (await shown.executeTakeFirst()) return file;
  const sentIn = await db
    .selectFrom("attachments")
    .innerJoin("messages", "messages.id", "attachments.messageId")
    .where("fileId", "=", fileId)
    .select("messages.chatId")
    .distinct()
    .execute();
  // Files that were sent in a conversation are read with it.
  const open = await underInspection(
    c,
    "chat",
    sentIn.map(({ chatId }) => chatId),
  );
  if (open.size === 0) await inspect(c, { resource: "file", id: file.id, ownerId: file.userId });
  return file;
}

/** Stops the replies under way in a chat, before its messages are deleted, or of a person who may have none any more. */
export async function stopReplies({ db, runs }: Services, of: { chatId: string } | { userId: string }): Promise<void> {
  const [column, value] = "chatId" in of ? (["chatId", of.chatId] as const) : (["userId", of.userId] as const);
  const streaming = db.selectFrom("messages").where(column, "=", value).where("status", "=", "streaming");
  const replies = await streaming.select("id").execute();
  await Promise.all(replies.map(({ id }) => runs.stop(id)));
}
