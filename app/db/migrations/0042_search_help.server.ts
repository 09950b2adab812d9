import { type Kysely, sql } from "kysely";
import type { Engine } from "../engine.server.ts";
import { schema } from "./0001_first.server.ts";

/** `helpsSearch`: the model is asked for other words to search for. At first on for models on this machine, and for prices up to those of small models of 2025, per million tokens. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { flag } = schema(db, engine);
  await db.schema
    .alterTable("models")
    .addColumn("helpsSearch", flag, (c) => c.notNull().defaultTo(0))
    .execute();
  await sql`update models set "helpsSearch" = 1 where provider != 'local' and (
    provider = 'ollama' and "baseUrl" is null
    or "baseUrl" like '%//localhost%' or "baseUrl" like '%//127.%' or "baseUrl" like '%//[::1]%'
    or ("inputPrice" <= 0.3 and "outputPrice" <= 1.5))`.execute(db);
}
