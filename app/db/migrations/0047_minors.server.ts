import type { Kysely } from "kysely";

/** Whether the people of a group are under age; and the number of the last entry of the audit trail that was told outside. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("groups")
    .addColumn("minors", "integer", (c) => c.notNull().defaultTo(0))
    .execute();
  await db.schema.alterTable("house").addColumn("eventsTold", "bigint").execute();
}
