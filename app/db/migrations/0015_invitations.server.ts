import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { optional, schema } from "./0001_first.server.ts";

/** Invitations: links by which people make accounts, with a role and groups. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, text, id, number } = schema(db, engine);
  await table("invitations", (t) =>
    t
      .addColumn("email", text)
      .addColumn("role", text, (c) => c.notNull())
      .addColumn("groupIds", text)
      .addColumn("expiresAt", number, (c) => c.notNull())
      .addColumn("usedAt", number)
      .addColumn("userId", id, optional("users", "set null")),
  );
}
