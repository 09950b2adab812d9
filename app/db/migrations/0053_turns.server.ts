import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { schema } from "./0001_first.server.ts";

/** How many a model answers at once, and those who wait for their turn. Without foreign keys: a turn is over when its process says so. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, index, id, number } = schema(db, engine);
  await db.schema.alterTable("models").addColumn("atOnce", "integer").execute();
  await table("turns", (t) =>
    t
      .addColumn("modelId", id, (c) => c.notNull())
      .addColumn("userId", id, (c) => c.notNull())
      .addColumn("processId", id, (c) => c.notNull())
      .addColumn("messageId", id)
      .addColumn("round", number, (c) => c.notNull())
      .addColumn("place", number, (c) => c.notNull()),
  );
  await index("turns", "modelId");
  await index("turns", "messageId");
}
