import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { optional, owned, schema } from "./0001_first.server.ts";

/** Assistants, which chats are had with, and templates of messages. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, index, text, id, number, flag, real } = schema(db, engine);
  await table("assistants", (t) =>
    t
      .addColumn("userId", id, owned("users"))
      .addColumn("name", text, (c) => c.notNull())
      .addColumn("purpose", text, (c) => c.notNull())
      .addColumn("instructions", text, (c) => c.notNull())
      .addColumn("modelId", id, optional("models", "set null"))
      .addColumn("temperature", real)
      .addColumn("toolIds", text)
      .addColumn("fileIds", text, (c) => c.notNull())
      .addColumn("beginnings", text, (c) => c.notNull())
      .addColumn("shared", flag, (c) => c.notNull())
      .addColumn("version", number, (c) => c.notNull()),
  );
  await index("assistants", "userId");
  await table("templates", (t) =>
    t
      .addColumn("userId", id, owned("users"))
      .addColumn("title", text, (c) => c.notNull())
      .addColumn("content", text, (c) => c.notNull())
      .addColumn("shared", flag, (c) => c.notNull()),
  );
  await index("templates", "userId");
  await db.schema.alterTable("chats").addColumn("assistantId", id, optional("assistants", "set null")).execute();
}
