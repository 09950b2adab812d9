import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { optional, owned, schema } from "./0001_first.server.ts";

/** Questions of one template, one for each row of a table, and what was answered. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, index, id, text, number, real } = schema(db, engine);
  await table("batches", (t) =>
    t
      .addColumn("userId", id, owned("users"))
      .addColumn("modelId", id, optional("models", "set null"))
      .addColumn("title", text, (c) => c.notNull())
      .addColumn("content", text, (c) => c.notNull())
      .addColumn("columns", text, (c) => c.notNull())
      .addColumn("total", number, (c) => c.notNull())
      .addColumn("budget", real)
      .addColumn("state", text, (c) => c.notNull())
      .addColumn("problem", text),
  );
  await index("batches", "userId");
  await table("batchQuestions", (t) =>
    t
      .addColumn("userId", id, owned("users"))
      .addColumn("batchId", id, owned("batches"))
      .addColumn("position", number, (c) => c.notNull())
      .addColumn("cells", text, (c) => c.notNull())
      .addColumn("state", text, (c) => c.notNull())
      .addColumn("answer", text)
      .addColumn("problem", text)
      .addColumn("inputTokens", number)
      .addColumn("outputTokens", number)
      .addColumn("cost", real),
  );
  await db.schema
    .createIndex("batchQuestions_batchId_position")
    .on("batchQuestions")
    .columns(["batchId", "position"])
    .execute();
  await index("batchQuestions", "userId");
}
