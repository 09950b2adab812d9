import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { owned, schema } from "./0001_first.server.ts";

/** The secret addresses at which people's newest replies can be subscribed to. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, text, id } = schema(db, engine);
  await table("replyFeeds", (t) =>
    t.addColumn("userId", id, (c) => owned("users")(c).unique()).addColumn("token", text, (c) => c.notNull().unique()),
  );
}
