import { type Kysely, sql } from "kysely";
import { v7 as newId } from "uuid";
import type { Engine } from "../engine.server.ts";
import { optional, owned, schema } from "./0001_first.server.ts";

/** Sentences about a person that they want models to know, whether they want that at all, and the tool that proposes them. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, index, id, text } = schema(db, engine);
  await table("memories", (t) =>
    t
      .addColumn("userId", id, owned("users"))
      .addColumn("projectId", id, optional("projects", "cascade"))
      .addColumn("chatId", id, optional("chats", "set null"))
      .addColumn("text", text, (c) => c.notNull()),
  );
  for (const column of ["userId", "projectId", "chatId"]) await index("memories", column);
  await db.schema
    .alterTable("users")
    .addColumn("remembers", "integer", (c) => c.notNull().defaultTo(0))
    .execute();
  const now = Date.now();
  await sql`insert into tools (id, "createdAt", "updatedAt", name, kind, settings, allowed, enabled, seconds, kilobytes, listed, position)
    values (${newId()}, ${now}, ${now}, 'Memoria', 'memory', '{}', 'everyone', 1, 20, 64, '[]',
      (select coalesce(max(position), -1) + 1 from tools))`.execute(db);
}
