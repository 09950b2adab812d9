import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { schema } from "./0001_first.server.ts";

/** The parameters that the server of a model refuses. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { text } = schema(db, engine);
  await db.schema
    .alterTable("models")
    .addColumn("refused", text, (c) => c.notNull().defaultTo(""))
    .execute();
}
