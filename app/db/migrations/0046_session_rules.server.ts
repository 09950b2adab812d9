import type { Kysely } from "kysely";

/** Rules of the house for sessions: who needs a second step, and how long one lasts. Of a session, whether a passkey has opened it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("house")
    .addColumn("secondStep", "text", (c) => c.notNull().defaultTo("optional"))
    .execute();
  await db.schema.alterTable("house").addColumn("sessionHours", "bigint").execute();
  await db.schema.alterTable("house").addColumn("idleMinutes", "bigint").execute();
  await db.schema
    .alterTable("sessions")
    .addColumn("byPasskey", "integer", (c) => c.notNull().defaultTo(0))
    .execute();
}
