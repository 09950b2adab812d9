import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { schema } from "./0001_first.server.ts";

/** Replies that go on with a model that has no pseudonyms, after one that has. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { flag } = schema(db, engine);
  await db.schema.alterTable("messages").addColumn("pseudonyms", flag).execute();
}
