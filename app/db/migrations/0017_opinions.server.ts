import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { optional, owned, schema } from "./0001_first.server.ts";

/** Opinions of replies. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, text, id, flag } = schema(db, engine);
  await table("opinions", (t) =>
    t
      .addColumn("messageId", id, owned("messages"))
      .addColumn("userId", id, owned("users"))
      .addColumn("modelId", id, optional("models", "set null"))
      .addColumn("assistantId", id, optional("assistants", "set null"))
      .addColumn("assistant", text, (c) => c.notNull())
      .addColumn("useful", flag, (c) => c.notNull())
      .addColumn("reason", text, (c) => c.notNull())
      .addColumn("question", text, (c) => c.notNull())
      .addColumn("reply", text, (c) => c.notNull()),
  );
  await db.schema.createIndex("opinions_messageId").on("opinions").column("messageId").unique().execute();
  await db.schema.createIndex("opinions_createdAt").on("opinions").columns(["createdAt", "id"]).execute();
}
