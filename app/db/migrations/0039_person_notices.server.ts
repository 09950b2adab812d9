import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { optional, schema } from "./0001_first.server.ts";

/** Notices for one person, for example of an administrator's look at their things. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { id } = schema(db, engine);
  await db.schema.alterTable("notices").addColumn("userId", id, optional("users", "cascade")).execute();
}
