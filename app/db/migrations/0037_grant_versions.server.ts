import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { schema } from "./0001_first.server.ts";

/** The version of a tool that a yes for a whole chat was given for. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { text } = schema(db, engine);
  await db.schema
    .alterTable("grants")
    .addColumn("version", text, (c) => c.notNull().defaultTo(""))
    .execute();
}
