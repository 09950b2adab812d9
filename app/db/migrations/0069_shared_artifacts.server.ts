import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { schema } from "./0001_first.server.ts";

/** Links by which anyone may read an artifact. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { text, number } = schema(db, engine);
  await db.schema.alterTable("artifacts").addColumn("shareToken", text).execute();
  await db.schema.alterTable("artifacts").addColumn("sharedVersion", number).execute();
  await db.schema.createIndex("artifacts_shareToken").on("artifacts").column("shareToken").unique().execute();
}
