import { type Kysely, sql } from "kysely";
import { v7 as newId } from "uuid";
import type { Engine } from "../engine.server.ts";
import { optional, schema } from "./0001_first.server.ts";

/**
 * Tools that models may call: where they come from, what a person has allowed for a conversation, and the calls as parts of a
 * reply. Models of the large providers know how to call them. Whether another model can is unknown, so an admin says it.
 */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, text, id, number, flag } = schema(db, engine);
  await table("tools", (t) =>
    t
      .addColumn("name", text, (c) => c.notNull())
      .addColumn("kind", text, (c) => c.notNull())
      .addColumn("address", text)
      .addColumn("secret", text)
      .addColumn("settings", text, (c) => c.notNull())
      .addColumn("allowed", text, (c) => c.notNull())
      .addColumn("enabled", flag, (c) => c.notNull())
      .addColumn("seconds", number, (c) => c.notNull())
      .addColumn("kilobytes", number, (c) => c.notNull())
      .addColumn("listed", text, (c) => c.notNull())
      .addColumn("listedAt", number)
      .addColumn("problem", text)
      .addColumn("access", text)
      .addColumn("position", number, (c) => c.notNull()),
  );
  // Those that need nothing from outside are there from the beginning.
  for (const [position, [kind, name]] of ownTools.entries()) {
    const now = Date.now();
    await sql`insert into tools (id, "createdAt", "updatedAt", name, kind, settings, allowed, enabled, seconds, kilobytes, listed, position)
      values (${newId()}, ${now}, ${now}, ${name}, ${kind}, '{}', 'everyone', 1, 20, 32, '[]', ${position})`.execute(
      db,
    );
  }
  await table("grants", (t) =>
    t
      .addColumn("chatId", id, (c) => optional("chats", "cascade")(c).notNull())
      .addColumn("toolId", id, (c) => optional("tools", "cascade")(c).notNull())
      .addColumn("name", text, (c) => c.notNull()),
  );
  await db.schema
    .createIndex("grants_chatId_toolId_name")
    .on("grants")
    .columns(["chatId", "toolId", "name"])
    .unique()
    .execute();
  await db.schema.alterTable("parts").addColumn("status", text).execute();
  await db.schema.alterTable("parts").addColumn("data", text).execute();
  await db.schema.alterTable("chats").addColumn("toolsOff", text).execute();
  await db.schema
    .alterTable("models")
    .addColumn("usesTools", flag, (c) => c.notNull().defaultTo(0))
    .execute();
  await sql`update models set "usesTools" = 1 where provider in ('openai', 'anthropic', 'google')`.execute(db);
}

const ownTools = [
  ["documents", "Buscar en mis documentos"],
  ["page", "Leer una página"],
  ["sums", "Calcular"],
  ["time", "Fecha y hora"],
] as const;
