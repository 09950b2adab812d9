import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { owned, schema } from "./0001_first.server.ts";

/** Passkeys, with which people sign in instead of a password (WebAuthn). */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, index, text, id, number } = schema(db, engine);
  await table("passkeys", (t) =>
    t
      .addColumn("userId", id, owned("users"))
      .addColumn("name", text, (c) => c.notNull())
      .addColumn("credentialId", text, (c) => c.notNull().unique())
      .addColumn("publicKey", text, (c) => c.notNull())
      .addColumn("counter", number, (c) => c.notNull())
      .addColumn("transports", text, (c) => c.notNull())
      .addColumn("challengedAt", number, (c) => c.notNull())
      .addColumn("lastUsedAt", number),
  );
  await index("passkeys", "userId");
}
