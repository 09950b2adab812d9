import { type Kysely, sql } from "kysely";
import type { Engine } from "../engine.server.ts";
import { optional, schema } from "./0001_first.server.ts";

/** Files and what they are attached to, their passages, the prompt of each reply, chats that end with their session. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, index, text, id, flag, number } = schema(db, engine);

  // Nothing could be stored in it yet; a file may now be attached to several messages.
  await db.schema.dropTable("files").execute();
  await table("files", (t) =>
    t
      .addColumn("userId", id, (c) => optional("users", "cascade")(c).notNull())
      .addColumn("projectId", id, optional("projects", "cascade"))
      .addColumn("name", text, (c) => c.notNull())
      .addColumn("mediaType", text, (c) => c.notNull())
      .addColumn("size", number, (c) => c.notNull())
      .addColumn("sha256", text, (c) => c.notNull())
      .addColumn("width", number)
      .addColumn("height", number)
      .addColumn("pages", number)
      .addColumn("text", text)
      .addColumn("temporary", flag, (c) => c.notNull())
      .addColumn("sessionId", id, optional("sessions", "cascade"))
      .addColumn("ready", flag, (c) => c.notNull()),
  );
  await index("files", "userId", "createdAt", "id");
  await index("files", "projectId");

  await table("attachments", (t) =>
    t
      .addColumn("messageId", id, (c) => optional("messages", "cascade")(c).notNull())
      .addColumn("fileId", id, optional("files", "set null"))
      .addColumn("name", text, (c) => c.notNull())
      .addColumn("mediaType", text, (c) => c.notNull())
      .addColumn("position", number, (c) => c.notNull()),
  );
  await index("attachments", "messageId");
  await index("attachments", "fileId");

  await table("prompts", (t) =>
    t
      .addColumn("messageId", id, (c) => optional("messages", "cascade")(c).notNull().unique())
      .addColumn("content", text, (c) => c.notNull()),
  );

  await db.schema.alterTable("passages").addColumn("fileId", id, optional("files", "cascade")).execute();
  await db.schema.alterTable("passages").addColumn("position", number).execute();
  await db.schema.alterTable("passages").addColumn("page", number).execute();
  await db.schema.createIndex("passages_fileId").on("passages").columns(["fileId", "position"]).execute();

  await db.schema
    .alterTable("shares")
    .addColumn("files", flag, (c) => c.notNull().defaultTo(0))
    .execute();

  await db.schema.alterTable("projects").addColumn("draft", text).execute();

  await db.schema.alterTable("chats").addColumn("sessionId", id, optional("sessions", "cascade")).execute();
  // A person's list is counted from it alone.
  await db.schema
    .createIndex("chats_listed")
    .on("chats")
    .columns(["userId", "lastMessageAt", "id"])
    .where(sql.ref("sessionId"), "is", null)
    .execute();
  await db.schema
    .createIndex("chats_sessionId")
    .on("chats")
    .column("sessionId")
    .where(sql.ref("sessionId"), "is not", null)
    .execute();
}
