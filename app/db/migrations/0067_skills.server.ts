import { type Kysely, sql } from "kysely";
import { v7 as newId } from "uuid";
import type { Engine } from "../engine.server.ts";
import { owned, schema } from "./0001_first.server.ts";

/** Skills: instructions that models open when they need them, with their files; and the tool that opens them. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, index, id, text, number, flag } = schema(db, engine);
  await table("skills", (t) =>
    t
      .addColumn("userId", id, owned("users"))
      .addColumn("name", text, (c) => c.notNull())
      .addColumn("description", text, (c) => c.notNull())
      .addColumn("content", text, (c) => c.notNull())
      .addColumn("shared", flag, (c) => c.notNull())
      .addColumn("groupIds", text)
      .addColumn("version", number, (c) => c.notNull())
      .addUniqueConstraint("skills_userId_name", ["userId", "name"]),
  );
  await table("skillFiles", (t) =>
    t
      .addColumn("userId", id, owned("users"))
      .addColumn("skillId", id, owned("skills"))
      .addColumn("path", text, (c) => c.notNull())
      .addColumn("text", text, (c) => c.notNull())
      .addColumn("size", number, (c) => c.notNull()),
  );
  await index("skillFiles", "skillId");
  await index("skillFiles", "userId");
  const now = Date.now();
  await sql`insert into tools (id, "createdAt", "updatedAt", name, kind, settings, allowed, enabled, seconds, kilobytes, listed, position)
    values (${newId()}, ${now}, ${now}, 'Oficios', 'skills', '{}', 'everyone', 1, 20, 64, '[]',
      (select coalesce(max(position), -1) + 1 from tools))`.execute(db);
}
