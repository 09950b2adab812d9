import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { schema } from "./0001_first.server.ts";

/** Addresses of other programs that are told of what happens here. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, text, number, flag } = schema(db, engine);
  await table("webhooks", (t) =>
    t
      .addColumn("name", text, (c) => c.notNull())
      .addColumn("address", text, (c) => c.notNull())
      .addColumn("secret", text)
      .addColumn("replyEnded", flag, (c) => c.notNull())
      .addColumn("personMade", flag, (c) => c.notNull())
      .addColumn("limitReached", flag, (c) => c.notNull())
      .addColumn("enabled", flag, (c) => c.notNull())
      .addColumn("problem", text)
      .addColumn("triedAt", number),
  );
}
