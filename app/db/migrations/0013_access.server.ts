import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { optional, owned, schema } from "./0001_first.server.ts";

/** Providers of identities that people come in by, whom each of them calls what, and the sessions that they opened. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, index, text, id, number, flag } = schema(db, engine);
  await table("accesses", (t) =>
    t
      .addColumn("name", text, (c) => c.notNull())
      .addColumn("kind", text, (c) => c.notNull())
      .addColumn("address", text, (c) => c.notNull())
      .addColumn("clientId", text, (c) => c.notNull())
      .addColumn("secret", text)
      .addColumn("scopes", text, (c) => c.notNull())
      .addColumn("groupsClaim", text, (c) => c.notNull())
      .addColumn("adminGroup", text)
      .addColumn("makesAccounts", flag, (c) => c.notNull())
      .addColumn("domains", text, (c) => c.notNull())
      .addColumn("trustsEmail", flag, (c) => c.notNull())
      .addColumn("sessionHours", number)
      .addColumn("searchBase", text)
      .addColumn("userFilter", text)
      .addColumn("groupBase", text)
      .addColumn("enabled", flag, (c) => c.notNull())
      .addColumn("position", number, (c) => c.notNull()),
  );
  await table("identities", (t) =>
    t
      .addColumn("userId", id, owned("users"))
      .addColumn("accessId", id, owned("accesses"))
      .addColumn("subject", text, (c) => c.notNull()),
  );
  await db.schema
    .createIndex("identities_accessId_subject")
    .on("identities")
    .columns(["accessId", "subject"])
    .unique()
    .execute();
  await index("identities", "userId");
  // Deleting an access also ends the sessions that it opened.
  await db.schema.alterTable("sessions").addColumn("accessId", id, optional("accesses", "cascade")).execute();
  await db.schema.alterTable("sessions").addColumn("providerSession", text).execute();
  await db.schema.alterTable("sessions").addColumn("idToken", text).execute();
  await db.schema.alterTable("sessions").addColumn("endsAt", number).execute();
  await index("sessions", "accessId");
  await db.schema
    .alterTable("passwordResets")
    .addColumn("opens", flag, (c) => c.notNull().defaultTo(0))
    .execute();
}
