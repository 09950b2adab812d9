import type { Kysely } from "kysely";

/** Number of the last entry of the audit trail that was told outside. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("house").addColumn("eventsTold", "bigint").execute();
}
