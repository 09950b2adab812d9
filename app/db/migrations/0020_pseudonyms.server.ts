import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { schema } from "./0001_first.server.ts";

/** Whether identifiers are hidden from a model. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { flag } = schema(db, engine);
  await db.schema
    .alterTable("models")
    .addColumn("pseudonyms", flag, (c) => c.notNull().defaultTo(0))
    .execute();
}
