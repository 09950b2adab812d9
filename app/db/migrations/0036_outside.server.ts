import type { Kysely } from "kysely";
import type { Engine } from "../connection.server.ts";
import { schema } from "./0001_first.server.ts";

/** Messages that came from somebody else's chat or from another program: their words are nobody's here. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { flag } = schema(db, engine);
  await db.schema
    .alterTable("messages")
    .addColumn("outside", flag, (c) => c.notNull().defaultTo(0))
    .execute();
}
