import type { ChatRow, MessageRow } from "../db/tables.ts";
import type { Person, Services } from "./env.server.ts";
import { notFound } from "./problem.server.ts";

/** A chat that the person may see: its owner's, or any for an admin. Throws 404. */
export async function findChat({ db }: Services, person: Person, chatId: string): Promise<ChatRow> {
  const row = await db
    .selectFrom("chats")
    .where("id", "=", chatId)
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
    .where("id", "=", messageId)
    .$if(person.role !== "admin", (query) => query.where("userId", "=", person.id))
    .selectAll()
    .executeTakeFirst();
  if (!row) throw notFound();
  return row;
}
