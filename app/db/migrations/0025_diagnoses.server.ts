import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { owned, schema } from "./0001_first.server.ts";

/** Observations of a diagnosis of the way to a browser, by whichever process. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, text, id, number } = schema(db, engine);
  await table("diagnoses", (t) => t.addColumn("checks", text, (c) => c.notNull()));
  await table("diagnosisMarks", (t) =>
    t
      .addColumn("diagnosisId", id, owned("diagnoses"))
      .addColumn("kind", text, (c) => c.notNull())
      .addColumn("line", number, (c) => c.notNull()),
  );
  await db.schema
    .createIndex("diagnosisMarks_once")
    .on("diagnosisMarks")
    .columns(["diagnosisId", "kind", "line"])
    .unique()
    .execute();
}
