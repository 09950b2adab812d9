import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { schema } from "./0001_first.server.ts";

/** The length of the last message when it was shared: what «Continuar» adds to it later is not shared. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { number } = schema(db, engine);
  await db.schema.alterTable("shares").addColumn("leafLength", number).execute();
}
