import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { schema } from "./0001_first.server.ts";

/** The words that are in passages, and the keys by which those meet that are written nearly alike (`search/spelling.server.ts`). */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { id } = schema(db, engine);
  await db.schema
    .createTable("words")
    .addColumn("word", id, (c) => c.primaryKey())
    .execute();
  await db.schema
    .createTable("wordKeys")
    .addColumn("key", id, (c) => c.notNull())
    .addColumn("word", id, (c) => c.references("words.word").onDelete("cascade").notNull())
    .addPrimaryKeyConstraint("wordKeys_key_word", ["key", "word"])
    .execute();
  await db.schema.createIndex("wordKeys_word").on("wordKeys").column("word").execute();
}
