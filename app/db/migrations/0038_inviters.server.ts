import type { Kysely } from "kysely";
import type { Engine } from "../connection.server.ts";
import { optional, schema } from "./0001_first.server.ts";

/** Maker of an invitation, which is worth nothing once they administer no more. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { id } = schema(db, engine);
  await db.schema.alterTable("invitations").addColumn("inviterId", id, optional("users", "set null")).execute();
}
