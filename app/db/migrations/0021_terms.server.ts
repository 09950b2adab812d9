import { type Kysely, sql } from "kysely";
import type { Engine } from "../engine.server.ts";
import { owned, schema } from "./0001_first.server.ts";

/** Pages that have to be accepted, and who has accepted which text of them. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, id, flag, number } = schema(db, engine);
  await db.schema
    .alterTable("pages")
    .addColumn("mustAccept", flag, (c) => c.notNull().defaultTo(0))
    .execute();
  await db.schema
    .alterTable("pages")
    .addColumn("textAt", number, (c) => c.notNull().defaultTo(0))
    .execute();
  await sql`update pages set "textAt" = "updatedAt"`.execute(db);
  await table("acceptances", (t) =>
    t.addColumn("userId", id, owned("users")).addColumn("textAt", number, (c) => c.notNull()),
  );
  await db.schema.createIndex("acceptances_userId").on("acceptances").column("userId").unique().execute();
}
