import type { Kysely } from "kysely";
import type { Engine } from "../connection.server.ts";
import { schema } from "./0001_first.server.ts";

/** How long the last message of a shared chat was: a reply that goes on later does so for its owner alone. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { number } = schema(db, engine);
  await db.schema.alterTable("shares").addColumn("leafLength", number).execute();
}
