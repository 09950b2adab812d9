import { type Kysely, sql } from "kysely";

/** The web address that a file was taken from. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("files").addColumn("address", sql`text`).execute();
}
