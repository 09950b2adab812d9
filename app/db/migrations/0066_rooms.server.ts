import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { optional, owned, schema } from "./0001_first.server.ts";

/** Rooms, in which people without an account talk with an assistant; their guests are sessions of the person who pays. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, index, id, text, number, real, flag } = schema(db, engine);
  await table("rooms", (t) =>
    t
      .addColumn("userId", id, owned("users"))
      .addColumn("assistantId", id, optional("assistants", "set null"))
      .addColumn("code", text, (c) => c.notNull().unique())
      .addColumn("name", text, (c) => c.notNull())
      .addColumn("fileIds", text)
      .addColumn("endsAt", number, (c) => c.notNull())
      .addColumn("people", number, (c) => c.notNull())
      .addColumn("messages", number, (c) => c.notNull())
      .addColumn("budget", real)
      .addColumn("showsTexts", flag, (c) => c.notNull())
      .addColumn("isOpen", flag, (c) => c.notNull())
      .addColumn("joined", number, (c) => c.notNull())
      .addColumn("asked", number, (c) => c.notNull())
      .addColumn("spent", real, (c) => c.notNull()),
  );
  await index("rooms", "userId");
  await index("rooms", "assistantId");
  await db.schema.alterTable("sessions").addColumn("roomId", id, optional("rooms", "cascade")).execute();
  await db.schema.alterTable("sessions").addColumn("guestHash", "text").execute();
  await db.schema.alterTable("sessions").addColumn("guestName", "text").execute();
  for (const [name, isUnique] of [
    ["roomId", false],
    ["guestHash", true],
  ] as const) {
    const made = db.schema.createIndex(`sessions_${name}`).on("sessions").column(name).where(name, "is not", null);
    await (isUnique ? made.unique() : made).execute();
  }
  await db.schema
    .alterTable("house")
    .addColumn("opensRooms", "text", (c) => c.notNull().defaultTo("admins"))
    .execute();
}
