import { type Kysely, sql } from "kysely";
import type { Engine } from "../engine.server.ts";
import { optional, schema } from "./0001_first.server.ts";

/** The model that goes on where one has failed. Deferred: models are copied in whatever order. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { id } = schema(db, engine);
  const toModel = optional("models", "set null");
  await db.schema
    .alterTable("models")
    .addColumn("fallbackId", id, (column) => toModel(column).modifyEnd(sql`deferrable initially deferred`))
    .execute();
}
