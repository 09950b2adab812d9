import { type Kysely, sql } from "kysely";
import type { Engine } from "../engine.server.ts";
import { optional, schema } from "./0001_first.server.ts";

/** The audit trail becomes a chain: its rows are numbered, and each is sealed together with the seal of the one before. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, text, id, number } = schema(db, engine);
  await table("sealKeys", (t) => t.addColumn("key", text, (c) => c.notNull()));
  await db.schema.alterTable("audit").addColumn("seq", number).execute();
  await db.schema.alterTable("audit").addColumn("hash", text).execute();
  await db.schema.alterTable("audit").addColumn("details", text).execute();
  await db.schema.alterTable("audit").addColumn("sealKeyId", id, optional("sealKeys", "set null")).execute();
  await db.schema.createIndex("audit_seq").on("audit").column("seq").unique().execute();
  // Rows without a number are looked for every few seconds.
  await sql`create index "audit_unsealed" on "audit" ("createdAt", "id") where "seq" is null`.execute(db);
}
