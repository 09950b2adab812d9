import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { owned, schema } from "./0001_first.server.ts";

/** Notices of the house, and their readers. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, text, id, number } = schema(db, engine);
  await table("notices", (t) =>
    t
      .addColumn("text", text, (c) => c.notNull())
      .addColumn("groupIds", text)
      .addColumn("endsAt", number),
  );
  await table("noticesRead", (t) =>
    t.addColumn("noticeId", id, owned("notices")).addColumn("userId", id, owned("users")),
  );
  await db.schema
    .createIndex("noticesRead_userId_noticeId")
    .on("noticesRead")
    .columns(["userId", "noticeId"])
    .unique()
    .execute();
}
