import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { optional, schema } from "./0001_first.server.ts";

/** Notices for one person, as that somebody who administers has read what is theirs. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { id } = schema(db, engine);
  await db.schema.alterTable("notices").addColumn("userId", id, optional("users", "cascade")).execute();
}
