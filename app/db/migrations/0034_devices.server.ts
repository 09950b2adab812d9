import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { owned, schema } from "./0001_first.server.ts";

/** The devices that are told of replies by Web Push: each is the browser of a session, and ends with it. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, index, id, text } = schema(db, engine);
  await table("devices", (t) =>
    t
      .addColumn("userId", id, owned("users"))
      .addColumn("sessionId", id, (c) => owned("sessions")(c).unique())
      .addColumn("endpoint", text, (c) => c.notNull().unique())
      .addColumn("p256dh", text, (c) => c.notNull())
      .addColumn("auth", text, (c) => c.notNull()),
  );
  await index("devices", "userId");
}
