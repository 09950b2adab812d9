import { type Kysely, sql } from "kysely";
import type { Engine } from "../engine.server.ts";
import { optional, owned, schema } from "./0001_first.server.ts";

/** Groups of people, with their limits; and, of what may be used, by which groups only. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, index, text, id, number, real } = schema(db, engine);
  await table("groups", (t) =>
    t
      .addColumn("name", text, (c) => c.notNull().unique())
      .addColumn("description", text, (c) => c.notNull())
      .addColumn("claim", text)
      .addColumn("messagesPerDay", number)
      .addColumn("tokensPerMonth", number)
      .addColumn("costPerMonth", real)
      .addColumn("budget", real),
  );
  await index("groups", "claim");
  await table("members", (t) =>
    t
      .addColumn("groupId", id, owned("groups"))
      .addColumn("userId", id, owned("users"))
      .addColumn("accessId", id, optional("accesses", "cascade")),
  );
  await db.schema.createIndex("members_userId_groupId").on("members").columns(["userId", "groupId"]).unique().execute();
  await index("members", "groupId");
  await table("groupCosts", (t) =>
    t
      .addColumn("groupId", id, owned("groups"))
      .addColumn("month", text, (c) => c.notNull())
      .addColumn("cost", real, (c) => c.notNull()),
  );
  await db.schema
    .createIndex("groupCosts_groupId_month")
    .on("groupCosts")
    .columns(["groupId", "month"])
    .unique()
    .execute();
  for (const used of ["models", "tools", "assistants", "trainings"]) {
    await sql`alter table ${sql.table(used)} add column "groupIds" text`.execute(db);
  }
}
