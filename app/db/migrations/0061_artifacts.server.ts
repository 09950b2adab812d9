import { type Kysely, sql } from "kysely";
import { v7 as newId } from "uuid";
import type { Engine } from "../engine.server.ts";
import { optional, owned, schema } from "./0001_first.server.ts";

/** Texts that models and people write beside a conversation, with their versions, and the tools that write them. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, index, id, text, number } = schema(db, engine);
  await table("artifacts", (t) =>
    t
      .addColumn("userId", id, owned("users"))
      .addColumn("chatId", id, optional("chats", "set null"))
      .addColumn("projectId", id, optional("projects", "set null"))
      .addColumn("fileId", id, optional("files", "set null"))
      .addColumn("sessionId", id, optional("sessions", "cascade"))
      .addColumn("n", number, (c) => c.notNull())
      .addColumn("kind", text, (c) => c.notNull())
      .addColumn("title", text, (c) => c.notNull())
      .addColumn("language", text)
      .addColumn("version", number, (c) => c.notNull())
      .addColumn("outside", number, (c) => c.notNull())
      .addColumn("growing", text)
      .addColumn("growingFor", id),
  );
  for (const column of ["userId", "chatId", "projectId", "fileId", "sessionId", "growingFor"]) {
    await index("artifacts", column);
  }
  await table("artifactVersions", (t) =>
    t
      .addColumn("userId", id, owned("users"))
      .addColumn("artifactId", id, owned("artifacts"))
      .addColumn("n", number, (c) => c.notNull())
      .addColumn("text", text, (c) => c.notNull())
      .addColumn("size", number, (c) => c.notNull())
      .addColumn("writerId", id, optional("users", "set null"))
      .addColumn("modelId", id, optional("models", "set null"))
      .addColumn("reason", text, (c) => c.notNull()),
  );
  await db.schema
    .createIndex("artifactVersions_artifactId_n")
    .on("artifactVersions")
    .columns(["artifactId", "n"])
    .unique()
    .execute();
  for (const column of ["userId", "writerId", "modelId"]) await index("artifactVersions", column);
  const now = Date.now();
  await sql`insert into tools (id, "createdAt", "updatedAt", name, kind, settings, allowed, enabled, seconds, kilobytes, listed, position)
    values (${newId()}, ${now}, ${now}, 'Escritos', 'artifacts', '{}', 'everyone', 1, 20, 64, '[]',
      (select coalesce(max(position), -1) + 1 from tools))`.execute(db);
}
