import type { Kysely } from "kysely";

/** Whether the people of a group are under age. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("groups")
    .addColumn("minors", "integer", (c) => c.notNull().defaultTo(0))
    .execute();
}
