import type { Kysely } from "kysely";

/** A sentence about the use of each model, for the page on which one is chosen. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("models")
    .addColumn("purpose", "text", (column) => column.notNull().defaultTo(""))
    .execute();
}
