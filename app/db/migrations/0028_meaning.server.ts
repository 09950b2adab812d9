import { type Kysely, sql } from "kysely";
import type { Engine } from "../engine.server.ts";
import { schema } from "./0001_first.server.ts";

/** The models that say what a text means, and what they have said of each passage (`search/meaning.server.ts`). */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, id, text, flag, number } = schema(db, engine);
  await table("searchModels", (t) =>
    t
      .addColumn("name", text, (c) => c.notNull())
      .addColumn("externalId", text, (c) => c.notNull())
      .addColumn("baseUrl", text, (c) => c.notNull())
      .addColumn("apiKey", text)
      .addColumn("questionPrefix", text, (c) => c.notNull())
      .addColumn("passagePrefix", text, (c) => c.notNull())
      .addColumn("enabled", flag, (c) => c.notNull())
      .addColumn("problem", text),
  );
  const isPostgres = engine === "postgres";
  await db.schema
    .createTable("vectors")
    .addColumn("seq", isPostgres ? number : "integer", (c) =>
      c.primaryKey().references("passages.seq").onDelete("cascade"),
    )
    // The columns that limit a search stand here, too: reading it from the passages would cost more than comparing.
    .addColumn("ownerId", id, (c) => c.notNull())
    .addColumn("fileId", id)
    .addColumn("ofMessage", flag, (c) => c.notNull())
    .addColumn("version", text, (c) => c.notNull())
    .addColumn("bits", isPostgres ? sql`varbit` : "blob", (c) => c.notNull())
    .addColumn("vector", isPostgres ? "bytea" : "blob", (c) => c.notNull())
    .execute();
  await db.schema.createIndex("vectors_ownerId_version").on("vectors").columns(["ownerId", "version"]).execute();
}
