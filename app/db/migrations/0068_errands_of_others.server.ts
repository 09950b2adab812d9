import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { optional, schema } from "./0001_first.server.ts";

/** Errands that begin by themselves: at the times of a schedule, or one for each row of a series. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { id, text, flag } = schema(db, engine);
  await db.schema
    .alterTable("errands")
    .addColumn("startsItself", flag, (c) => c.notNull().defaultTo(0))
    .execute();
  await db.schema.alterTable("errands").addColumn("key", text).execute();
  await db.schema.createIndex("errands_key").on("errands").columns(["userId", "key"]).unique().execute();
  await db.schema.alterTable("schedules").addColumn("looksIn", text).execute();
  await db.schema.alterTable("schedules").addColumn("errandId", id, optional("errands", "set null")).execute();
  await db.schema.createIndex("schedules_errandId").on("schedules").column("errandId").execute();
  await db.schema.alterTable("batches").addColumn("looksIn", text).execute();
  await db.schema.alterTable("batchQuestions").addColumn("errandId", id, optional("errands", "set null")).execute();
  await db.schema.createIndex("batchQuestions_errandId").on("batchQuestions").column("errandId").execute();
}
