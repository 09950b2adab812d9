import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { optional, schema } from "./0001_first.server.ts";

/** Work that outlives the request that asked for it; why a file could not be read. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, index, text, id, number } = schema(db, engine);
  await table("jobs", (t) =>
    t
      .addColumn("kind", text, (c) => c.notNull())
      .addColumn("state", text, (c) => c.notNull())
      .addColumn("userId", id, optional("users", "cascade"))
      .addColumn("subjectId", id)
      .addColumn("key", text, (c) => c.unique())
      .addColumn("data", text, (c) => c.notNull())
      .addColumn("attempts", number, (c) => c.notNull())
      .addColumn("dueAt", number, (c) => c.notNull())
      .addColumn("goodUntil", number)
      .addColumn("processId", id)
      .addColumn("done", number)
      .addColumn("total", number)
      .addColumn("problem", text)
      .addColumn("result", text),
  );
  await index("jobs", "kind", "state", "dueAt");
  await index("jobs", "userId", "kind", "state");
  await index("jobs", "subjectId");
  await db.schema.alterTable("files").addColumn("problem", text).execute();
}
