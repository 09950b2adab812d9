import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { optional, owned, schema } from "./0001_first.server.ts";

/** How many a model answers at once, and those who wait for their turn. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, index, id, number } = schema(db, engine);
  await db.schema.alterTable("models").addColumn("atOnce", "integer").execute();
  await table("turns", (t) =>
    t
      .addColumn("modelId", id, owned("models"))
      .addColumn("userId", id, owned("users"))
      .addColumn("processId", id, owned("processes"))
      .addColumn("messageId", id, optional("messages", "cascade"))
      .addColumn("round", number, (c) => c.notNull())
      .addColumn("place", number, (c) => c.notNull()),
  );
  await index("turns", "modelId");
  await index("turns", "messageId");
  await index("turns", "userId");
  await index("turns", "processId");
}
