import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { optional, owned, schema } from "./0001_first.server.ts";

/** Questions that take long: a plan, the steps that follow from it, and the artifact that comes of it. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, index, id, text, number, real } = schema(db, engine);
  await table("errands", (t) =>
    t
      .addColumn("userId", id, owned("users"))
      .addColumn("modelId", id, optional("models", "set null"))
      .addColumn("artifactId", id, optional("artifacts", "set null"))
      .addColumn("title", text, (c) => c.notNull())
      .addColumn("question", text, (c) => c.notNull())
      .addColumn("plan", text, (c) => c.notNull())
      .addColumn("looksIn", text, (c) => c.notNull())
      .addColumn("state", text, (c) => c.notNull())
      .addColumn("problem", text)
      .addColumn("budget", real)
      .addColumn("stepsAtMost", number, (c) => c.notNull())
      .addColumn("minutesAtMost", number, (c) => c.notNull())
      .addColumn("workedMs", number, (c) => c.notNull())
      .addColumn("taken", number, (c) => c.notNull())
      .addColumn("spent", real, (c) => c.notNull())
      .addColumn("notifies", number, (c) => c.notNull()),
  );
  for (const column of ["userId", "artifactId"]) await index("errands", column);
  await table("errandSteps", (t) =>
    t
      .addColumn("userId", id, owned("users"))
      .addColumn("errandId", id, owned("errands"))
      .addColumn("part", number, (c) => c.notNull())
      .addColumn("stage", number, (c) => c.notNull())
      .addColumn("position", number, (c) => c.notNull())
      .addColumn("kind", text, (c) => c.notNull())
      .addColumn("input", text, (c) => c.notNull())
      .addColumn("state", text, (c) => c.notNull())
      .addColumn("text", text)
      .addColumn("problem", text)
      .addColumn("source", number)
      .addColumn("inputTokens", number)
      .addColumn("outputTokens", number)
      .addColumn("cost", real),
  );
  await db.schema
    .createIndex("errandSteps_errandId_order")
    .on("errandSteps")
    .columns(["errandId", "part", "stage", "position"])
    .execute();
  await index("errandSteps", "userId");
}
