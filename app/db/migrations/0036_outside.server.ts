import { type Kysely, sql } from "kysely";
import type { Engine } from "../engine.server.ts";
import { schema } from "./0001_first.server.ts";

/**
 * Messages that came from somebody else's chat or from another program: their words are nobody's here. And who has said what a call
 * has brought; of older ones that is not known, so that they count as anybody's.
 */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { flag, text } = schema(db, engine);
  await db.schema
    .alterTable("messages")
    .addColumn("outside", flag, (c) => c.notNull().defaultTo(0))
    .execute();
  await db.schema.alterTable("parts").addColumn("origin", text).execute();
  await sql`update parts set origin = '*' where kind = 'tool'`.execute(db);
}
