import { type Kysely, sql } from "kysely";

/** Where on the web a file was taken from. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("files").addColumn("address", sql`text`).execute();
}
