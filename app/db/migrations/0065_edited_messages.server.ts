import type { Kysely } from "kysely";

/** Whether somebody has changed a message, so that no receipt is signed for it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("messages")
    .addColumn("edited", "integer", (c) => c.notNull().defaultTo(0))
    .execute();
}
