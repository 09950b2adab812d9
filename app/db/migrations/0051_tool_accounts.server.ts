import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { owned, schema } from "./0001_first.server.ts";

/** Accounts of people at servers of tools that want each person's own. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, index, id, text, number } = schema(db, engine);
  await table("toolAccounts", (t) =>
    t
      .addColumn("userId", id, owned("users"))
      .addColumn("toolId", id, owned("tools"))
      .addColumn("access", text)
      .addColumn("connectedAt", number)
      .addColumn("listed", text, (c) => c.notNull())
      .addColumn("listedAt", number)
      .addColumn("problem", text)
      .addUniqueConstraint("toolAccounts_userId_toolId", ["userId", "toolId"]),
  );
  await index("toolAccounts", "toolId");
}
