import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { optional, owned, schema } from "./0001_first.server.ts";

/** Questions that are asked by themselves at times that a person has chosen. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, index, text, id, flag, number } = schema(db, engine);
  await table("schedules", (t) =>
    t
      .addColumn("userId", id, owned("users"))
      .addColumn("content", text, (c) => c.notNull())
      .addColumn("modelId", id, optional("models", "set null"))
      .addColumn("assistantId", id, optional("assistants", "set null"))
      .addColumn("days", text, (c) => c.notNull())
      .addColumn("monthDay", number)
      .addColumn("time", text, (c) => c.notNull())
      .addColumn("zone", text, (c) => c.notNull())
      .addColumn("tells", flag, (c) => c.notNull())
      .addColumn("enabled", flag, (c) => c.notNull())
      .addColumn("nextAt", number, (c) => c.notNull())
      .addColumn("askedAt", number)
      .addColumn("chatId", id, optional("chats", "set null"))
      .addColumn("problem", text),
  );
  await index("schedules", "userId");
  await index("schedules", "enabled", "nextAt");
}
