import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { schema } from "./0001_first.server.ts";

/** Origins of what was moved here from other programs, so that moving again adds only what is new. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, id, text } = schema(db, engine);
  await table("moves", (t) =>
    t
      .addColumn("source", text, (c) => c.notNull())
      .addColumn("kind", text, (c) => c.notNull())
      .addColumn("externalId", text, (c) => c.notNull())
      .addColumn("ownId", id, (c) => c.notNull())
      .addUniqueConstraint("moves_source_kind_externalId", ["source", "kind", "externalId"]),
  );
}
