import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { owned, schema } from "./0001_first.server.ts";

/** The models that hear and speak, and what they have made of replies. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, index, id, text, flag, number } = schema(db, engine);
  await table("voiceModels", (t) =>
    t
      .addColumn("name", text, (c) => c.notNull())
      .addColumn("kind", text, (c) => c.notNull())
      .addColumn("externalId", text, (c) => c.notNull())
      .addColumn("baseUrl", text, (c) => c.notNull())
      .addColumn("apiKey", text)
      .addColumn("voice", text, (c) => c.notNull())
      .addColumn("enabled", flag, (c) => c.notNull()),
  );
  await table("speeches", (t) =>
    t
      .addColumn("messageId", id, owned("messages"))
      .addColumn("userId", id, owned("users"))
      .addColumn("version", text, (c) => c.notNull())
      .addColumn("size", number, (c) => c.notNull()),
  );
  await index("speeches", "messageId");
  await index("speeches", "userId");
}
