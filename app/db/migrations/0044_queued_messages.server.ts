import { type Kysely, sql } from "kysely";

/** A chat's message that waits until the reply that is being written has ended. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("chats").addColumn("queued", "text").execute();
  await sql`create index chats_queued on chats (id) where queued is not null`.execute(db);
}
