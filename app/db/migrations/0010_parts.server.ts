import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { optional, schema } from "./0001_first.server.ts";

/**
 * The parts of a reply beside its text, how hard a model is asked to think, and how many tokens a reply's thoughts took.
 * Replies from before have no such parts: they read as one part of text.
 */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, text, id, number } = schema(db, engine);
  await table("parts", (t) =>
    t
      .addColumn("messageId", id, (c) => optional("messages", "cascade")(c).notNull())
      .addColumn("n", number, (c) => c.notNull())
      .addColumn("kind", text, (c) => c.notNull())
      .addColumn("at", number, (c) => c.notNull())
      .addColumn("text", text, (c) => c.notNull())
      .addColumn("finishedAt", number),
  );
  await db.schema.createIndex("parts_messageId_n").on("parts").columns(["messageId", "n"]).unique().execute();
  await db.schema.alterTable("models").addColumn("reasoning", text).execute();
  await db.schema.alterTable("messages").addColumn("reasoningTokens", number).execute();
}
