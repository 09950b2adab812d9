import { z } from "@hono/zod-openapi";
import { sql } from "kysely";
import type { Db } from "../../db/engine.server.ts";
import type { ChatRow, MessageRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import { notFound } from "../http/problem.server.ts";
import { message, showMessages } from "./message-fields.server.ts";
import type { ChatReader } from "./shared/author-only.server.ts";

/** A message of a branch. `versions`: ids of all messages with the same parent, including itself. */
export const turn = message
  .extend({
    versions: z.array(z.string()),
    summary: z
      .string()
      .nullable()
      .openapi({ description: "El resumen que el modelo tiene de la conversación hasta aquí, si no cabía entera." }),
    useful: z.boolean().nullable().openapi({ description: "Si ha sido útil, si la persona lo ha dicho." }),
  })
  .openapi("Turn");

type Page = { items: z.output<typeof turn>[]; hasEarlier: boolean; hasLater: boolean };

/** One page of a chat's branch, by default its end. The cost does not depend on the chat's length. */
export async function branchOf(
  db: Db,
  chat: Pick<ChatRow, "id" | "leafId">,
  reader: ChatReader,
  {
    through,
    before,
    around,
    limit = limits.turnsOnPage,
  }: {
    through?: string | undefined;
    before?: string | undefined;
    around?: string | undefined;
    limit?: number | undefined;
  },
): Promise<Page> {
  const last = before
    ? await parentOf(db, chat.id, before)
    : around
      ? await leafBelow(db, chat.id, around, Math.floor(limit * partAfter))
      : through
        ? await leafBelow(db, chat.id, through)
        : chat.leafId;
  if (!last) return { items: [], hasEarlier: false, hasLater: before !== undefined };
  const { rows } = await sql<MessageRow>`
    with recursive branch as (
      select m.*, 0 as depth from messages m where m.id = ${last} and m."chatId" = ${chat.id}
      union all
      select m.*, b.depth + 1 from messages m join branch b on m.id = b."parentId" where b.depth < ${limit}
    ) select * from branch order by depth`.execute(db);
  const page = rows.slice(0, limit).reverse();
  const [versions, items, summaries, opinions] = await Promise.all([
    versionsOf(db, chat.id, page),
    showMessages(db, page, reader),
    summariesOf(db, chat.id, page),
    opinionsOf(db, page),
  ]);
  return {
    items: items.map((item) => ({
      ...item,
      versions: versions.get(item.parentId) ?? [item.id],
      summary: summaries.get(item.id) ?? null,
      useful: opinions.get(item.id) ?? null,
    })),
    hasEarlier: rows.length > limit,
    hasLater: before !== undefined || (around !== undefined && (await hasAnswer(db, last))),
  };
}

async function opinionsOf(db: Db, page: MessageRow[]): Promise<Map<string, boolean>> {
  const replies = page.filter(({ role }) => role === "assistant").map(({ id }) => id);
  if (replies.length === 0) return new Map();
  const rows = await db
    .selectFrom("opinions")
    .where("messageId", "in", replies)
    .select(["messageId", "useful"])
    .execute();
  return new Map(rows.map(({ messageId, useful }) => [messageId, useful === 1]));
}

// Share of the messages around a search result that come after it.
const partAfter = 0.4;

const hasAnswer = async (db: Db, messageId: string) =>
  (await db.selectFrom("messages").where("parentId", "=", messageId).select("id").limit(1).executeTakeFirst()) !==
  undefined;

async function parentOf(db: Db, chatId: string, messageId: string): Promise<string | null> {
  const row = await db
    .selectFrom("messages")
    .where("id", "=", messageId)
    .where("chatId", "=", chatId)
    .select("parentId")
    .executeTakeFirstOrThrow(notFound);
  return row.parentId;
}

/** The leaf below a message, always following the newest version, at most `depth` levels down. */
export async function leafBelow(db: Db, chatId: string, messageId: string, depth = 1_000_000): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    with recursive below as (
      select id, 0 as depth from messages where id = ${messageId} and "chatId" = ${chatId}
      union all
      select (select max(m.id) from messages m where m."parentId" = b.id), b.depth + 1 from below b
      where b.id is not null and b.depth < ${depth}
    ) select id from below where id is not null order by depth desc limit 1`.execute(db);
  if (!rows[0]) throw notFound();
  return rows[0].id;
}

async function summariesOf(db: Db, chatId: string, page: MessageRow[]): Promise<Map<string, string>> {
  if (page.length === 0) return new Map();
  const rows = await db
    .selectFrom("summaries")
    .where("chatId", "=", chatId)
    .where(
      "upToMessageId",
      "in",
      page.map(({ id }) => id),
    )
    .select(["upToMessageId", "content"])
    .execute();
  return new Map(rows.map(({ upToMessageId, content }) => [upToMessageId, content]));
}

async function versionsOf(db: Db, chatId: string, page: MessageRow[]): Promise<Map<string | null, string[]>> {
  const parents = page.map(({ parentId }) => parentId).filter((parentId) => parentId !== null);
  const rows = await db
    .selectFrom("messages")
    .where("chatId", "=", chatId)
    .where((e) =>
      e.or([
        ...(parents.length > 0 ? [e("parentId", "in", parents)] : []),
        ...(parents.length < page.length ? [e("parentId", "is", null)] : []),
      ]),
    )
    .select(["id", "parentId"])
    .orderBy("id")
    .execute();
  const versions = new Map<string | null, string[]>();
  for (const { id, parentId } of rows) {
    const siblings = versions.get(parentId);
    if (siblings) siblings.push(id);
    else versions.set(parentId, [id]);
  }
  return versions;
}

/** Whether a message is on the branch that ends in another. */
export async function leadsTo(db: Db, messageId: string, leafId: string): Promise<boolean> {
  const { rows } = await sql<{ id: string }>`
    with recursive branch as (
      select id, "parentId" from messages where id = ${leafId}
      union all
      select m.id, m."parentId" from messages m join branch b on m.id = b."parentId"
    ) select id from branch where id = ${messageId}`.execute(db);
  return rows.length > 0;
}
