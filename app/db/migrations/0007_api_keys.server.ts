import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { optional, schema } from "./0001_first.server.ts";

/** The keys by which a person's other programs use the API, and what has been made under an Idempotency-Key. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, index, text, id, number } = schema(db, engine);
  const owner = optional("users", "cascade");
  await table("apiKeys", (t) =>
    t
      .addColumn("userId", id, (c) => owner(c).notNull())
      .addColumn("name", text, (c) => c.notNull())
      .addColumn("scope", text, (c) => c.notNull())
      .addColumn("start", text, (c) => c.notNull())
      .addColumn("tokenHash", text, (c) => c.notNull().unique())
      .addColumn("lastUsedAt", number),
  );
  await index("apiKeys", "userId");
  await table("idempotency", (t) =>
    t
      .addColumn("userId", id, (c) => owner(c).notNull())
      .addColumn("key", text, (c) => c.notNull())
      .addColumn("request", text, (c) => c.notNull())
      .addColumn("status", number)
      .addColumn("body", text),
  );
  await db.schema.createIndex("idempotency_userId_key").on("idempotency").columns(["userId", "key"]).unique().execute();
  await index("idempotency", "createdAt");
}
