import { type Kysely, sql } from "kysely";
import type { Engine } from "../engine.server.ts";
import { owned, schema } from "./0001_first.server.ts";

/** The process that writes a reply, so that another can go on with it; its cost so far; the processes, and the state that they share. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, index, text, id, number, flag } = schema(db, engine);
  await db.schema.alterTable("messages").addColumn("writer", text).execute();
  await db.schema
    .alterTable("messages")
    .addColumn("takeovers", number, (c) => c.notNull().defaultTo(0))
    .execute();
  await db.schema.alterTable("messages").addColumn("promptLength", number).execute();
  await db.schema
    .alterTable("models")
    .addColumn("resumes", flag, (c) => c.notNull().defaultTo(1))
    .execute();
  await table("processes", (t) =>
    t
      .addColumn("host", text, (c) => c.notNull())
      .addColumn("pid", number, (c) => c.notNull())
      .addColumn("version", text, (c) => c.notNull())
      .addColumn("data", text, (c) => c.notNull()),
  );
  // A process that has left the list may still have some: no foreign key.
  await table("completions", (t) =>
    t.addColumn("userId", id, owned("users")).addColumn("processId", id, (c) => c.notNull()),
  );
  await index("completions", "userId");
  // Counts that several processes share without Redis, in the columns that rate-limiter-flexible expects.
  if (engine === "postgres") {
    await sql`create unlogged table "rateLimits" (key text primary key, points integer not null, expire bigint)`.execute(
      db,
    );
  }
}
