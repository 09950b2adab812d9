import type { Kysely } from "kysely";

/** Models that are still to answer a question of a chat, one after another. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("chats").addColumn("compared", "text").execute();
}
