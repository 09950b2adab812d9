import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { schema } from "./0001_first.server.ts";

/** Cost of each reply, and the tokens of its prompt that its provider had kept, which have a price of their own. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { number, real } = schema(db, engine);
  await db.schema.alterTable("messages").addColumn("cachedTokens", number).execute();
  await db.schema.alterTable("messages").addColumn("cost", real).execute();
  await db.schema.alterTable("models").addColumn("cachedPrice", real).execute();
}
