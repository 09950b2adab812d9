import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { schema } from "./0001_first.server.ts";

/** Signed marks of the audit trail: its last row, the first that retention has left, and the accounts whose details were removed. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, index, text, id, number } = schema(db, engine);
  await db.schema.alterTable("sealKeys").addColumn("adopted", number).execute();
  await db.schema.alterTable("sealKeys").addColumn("head", text).execute();
  await db.schema.alterTable("sealKeys").addColumn("cut", text).execute();
  await table("erasures", (t) =>
    t.addColumn("personId", id, (c) => c.notNull()).addColumn("mark", text, (c) => c.notNull()),
  );
  await index("erasures", "personId");
}
