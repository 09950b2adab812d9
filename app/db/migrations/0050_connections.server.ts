import { type Kysely, sql } from "kysely";

/** Keys that a program gets by OAuth: its client, the code on the way to it, and the token that renews it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const column of ["client", "codeHash", "challenge", "redirectUri", "refreshHash"]) {
    await db.schema.alterTable("apiKeys").addColumn(column, "text").execute();
  }
  await db.schema.alterTable("apiKeys").addColumn("expiresAt", "bigint").execute();
  await sql`create unique index "apiKeys_codeHash" on "apiKeys" ("codeHash")`.execute(db);
}
