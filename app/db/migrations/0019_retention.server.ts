import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { optional, owned, schema } from "./0001_first.server.ts";

/** How long things are kept, and for whom deletion is suspended. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, index, text, id, flag, number } = schema(db, engine);
  await table("retentions", (t) =>
    t
      .addColumn("kind", text, (c) => c.notNull())
      .addColumn("days", number, (c) => c.notNull())
      .addColumn("groupId", id, optional("groups", "cascade"))
      .addColumn("keepsPinned", flag, (c) => c.notNull())
      .addColumn("startsAt", number, (c) => c.notNull()),
  );
  await table("holds", (t) => t.addColumn("userId", id, owned("users")).addColumn("reason", text, (c) => c.notNull()));
  await index("holds", "userId");
  await index("files", "createdAt", "id");
}
