import { type ColumnDefinitionBuilder, type CreateTableBuilder, type Kysely, sql } from "kysely";
import type { Engine } from "../engine.server.ts";

/** Every table of the first release. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, index, text, id, flag, number, real } = schema(db, engine);

  await table("users", (t) =>
    t
      .addColumn("name", text, (c) => c.notNull())
      .addColumn("email", text, (c) => c.notNull())
      .addColumn("emailKey", text, (c) => c.notNull().unique())
      .addColumn("passwordHash", text, (c) => c.notNull())
      .addColumn("role", text, (c) => c.notNull())
      .addColumn("status", text, (c) => c.notNull())
      .addColumn("draft", text)
      .addColumn("lastSeenAt", number),
  );

  await table("sessions", (t) =>
    t
      .addColumn("userId", id, owned("users"))
      .addColumn("generation", number, (c) => c.notNull())
      .addColumn("accessHash", text, (c) => c.notNull().unique())
      .addColumn("refreshHash", text, (c) => c.notNull().unique())
      .addColumn("rotatedAt", number, (c) => c.notNull())
      .addColumn("accessExpiresAt", number, (c) => c.notNull())
      .addColumn("refreshExpiresAt", number, (c) => c.notNull())
      .addColumn("userAgent", text, (c) => c.notNull())
      .addColumn("ip", text, (c) => c.notNull())
      .addColumn("lastSeenAt", number, (c) => c.notNull()),
  );
  await index("sessions", "userId");

  await table("projects", (t) =>
    t
      .addColumn("userId", id, owned("users"))
      .addColumn("name", text, (c) => c.notNull())
      .addColumn("description", text, (c) => c.notNull())
      .addColumn("instructions", text, (c) => c.notNull()),
  );
  await index("projects", "userId");

  await table("models", (t) =>
    t
      .addColumn("name", text, (c) => c.notNull())
      .addColumn("provider", text, (c) => c.notNull())
      .addColumn("externalId", text, (c) => c.notNull())
      .addColumn("baseUrl", text)
      .addColumn("apiKey", text)
      .addColumn("contextWindow", number, (c) => c.notNull())
      .addColumn("maxOutputTokens", number, (c) => c.notNull())
      .addColumn("temperature", real)
      .addColumn("acceptsImages", flag, (c) => c.notNull())
      .addColumn("systemPrompt", text, (c) => c.notNull())
      .addColumn("inputPrice", real)
      .addColumn("outputPrice", real)
      .addColumn("enabled", flag, (c) => c.notNull())
      .addColumn("isDefault", flag, (c) => c.notNull())
      .addColumn("position", number, (c) => c.notNull()),
  );

  await table("chats", (t) =>
    t
      .addColumn("userId", id, owned("users"))
      .addColumn("projectId", id, optional("projects", "cascade"))
      .addColumn("modelId", id, optional("models", "set null"))
      .addColumn("title", text, (c) => c.notNull())
      .addColumn("titled", flag, (c) => c.notNull())
      .addColumn("pinned", flag, (c) => c.notNull())
      .addColumn("archived", flag, (c) => c.notNull())
      .addColumn("lastMessageAt", number, (c) => c.notNull())
      .addColumn("draft", text)
      .addColumn("leafId", id),
  );
  await index("chats", "userId", "lastMessageAt", "id");
  await index("chats", "projectId");

  await table("messages", (t) =>
    t
      .addColumn("chatId", id, owned("chats"))
      .addColumn("userId", id, owned("users"))
      // No foreign key: SQLite stops a cascade along a chain of more than 1,000 messages.
      .addColumn("parentId", id)
      .addColumn("role", text, (c) => c.notNull())
      .addColumn("content", text, (c) => c.notNull())
      .addColumn("status", text, (c) => c.notNull())
      .addColumn("modelId", id, optional("models", "set null"))
      .addColumn("error", text)
      .addColumn("inputTokens", number)
      .addColumn("outputTokens", number)
      .addColumn("sources", text)
      .addColumn("key", text)
      .addColumn("heartbeatAt", number)
      .addColumn("finishedAt", number),
  );
  await index("messages", "chatId", "parentId", "id");
  await index("messages", "parentId");
  await index("messages", "userId", "id");
  await db.schema.createIndex("messages_userId_key").on("messages").columns(["userId", "key"]).unique().execute();
  await db.schema
    // One reply at a time in a chat, whoever asks for it at the same moment.
    .createIndex("messages_streaming")
    .on("messages")
    .column("chatId")
    .unique()
    .where(sql.ref("status"), "=", sql.lit("streaming"))
    .execute();

  await table("pages", (t) =>
    t
      .addColumn("slug", text, (c) => c.notNull().unique())
      .addColumn("title", text, (c) => c.notNull())
      .addColumn("description", text, (c) => c.notNull())
      .addColumn("body", text, (c) => c.notNull())
      .addColumn("published", flag, (c) => c.notNull())
      .addColumn("position", number, (c) => c.notNull())
      .addColumn("inMenu", flag, (c) => c.notNull()),
  );

  await table("files", (t) =>
    t
      .addColumn("userId", id, owned("users"))
      .addColumn("projectId", id, optional("projects", "cascade"))
      .addColumn("messageId", id, optional("messages", "cascade"))
      .addColumn("name", text, (c) => c.notNull())
      .addColumn("mediaType", text, (c) => c.notNull())
      .addColumn("size", number, (c) => c.notNull())
      .addColumn("sha256", text, (c) => c.notNull())
      .addColumn("width", number)
      .addColumn("height", number)
      .addColumn("text", text)
      .addColumn("temporary", flag, (c) => c.notNull()),
  );
  await index("files", "userId");
  await index("files", "messageId");
  await index("files", "projectId");

  await table("summaries", (t) =>
    t
      .addColumn("chatId", id, owned("chats"))
      .addColumn("upToMessageId", id, owned("messages"))
      .addColumn("content", text, (c) => c.notNull())
      .addColumn("modelId", id, optional("models", "set null"))
      .addColumn("tokens", number, (c) => c.notNull()),
  );
  await index("summaries", "chatId");

  await table("trainings", (t) =>
    t
      .addColumn("title", text, (c) => c.notNull())
      .addColumn("kind", text, (c) => c.notNull())
      .addColumn("content", text, (c) => c.notNull())
      .addColumn("projectId", id, optional("projects", "cascade"))
      .addColumn("enabled", flag, (c) => c.notNull())
      .addColumn("position", number, (c) => c.notNull()),
  );

  await table("subscriptions", (t) =>
    t
      .addColumn("userId", id, owned("users"))
      .addColumn("plan", text, (c) => c.notNull())
      .addColumn("status", text, (c) => c.notNull())
      .addColumn("startsAt", number, (c) => c.notNull())
      .addColumn("endsAt", number)
      .addColumn("messagesPerDay", number)
      .addColumn("tokensPerMonth", number)
      .addColumn("storageMb", number),
  );
  await index("subscriptions", "userId");

  await table("usage", (t) =>
    t
      .addColumn("userId", id, owned("users"))
      .addColumn("modelId", id, (c) => c.notNull())
      .addColumn("day", text, (c) => c.notNull())
      .addColumn("messages", number, (c) => c.notNull())
      .addColumn("inputTokens", number, (c) => c.notNull())
      .addColumn("outputTokens", number, (c) => c.notNull())
      .addColumn("cost", real, (c) => c.notNull())
      .addUniqueConstraint("usage_userId_day_modelId", ["userId", "day", "modelId"]),
  );

  await table("audit", (t) =>
    t
      .addColumn("actorId", id)
      .addColumn("action", text, (c) => c.notNull())
      .addColumn("resource", text, (c) => c.notNull())
      .addColumn("resourceId", id)
      .addColumn("changes", text, (c) => c.notNull())
      .addColumn("ip", text, (c) => c.notNull()),
  );
  await index("audit", "resource", "resourceId");
}

type ColumnRule = (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder;
export const optional =
  (target: string, action: "cascade" | "set null"): ColumnRule =>
  (column) =>
    column.references(`${target}.id`).onDelete(action);
export const owned =
  (target: string): ColumnRule =>
  (column) =>
    optional(target, "cascade")(column).notNull();

export function schema(db: Kysely<unknown>, engine: Engine) {
  // Byte order, so that both engines sort UUIDv7 alike and by time.
  const id = engine === "postgres" ? sql`text collate "C"` : sql`text`;
  const number = "bigint" as const;
  return {
    id,
    number,
    text: "text" as const,
    flag: "integer" as const,
    real: "double precision" as const,
    table: (name: string, build: (table: CreateTableBuilder<string, never>) => CreateTableBuilder<string, string>) =>
      build(db.schema.createTable(name).addColumn("id", id, (c) => c.primaryKey()) as CreateTableBuilder<string, never>)
        .addColumn("createdAt", number, (c) => c.notNull())
        .addColumn("updatedAt", number, (c) => c.notNull())
        .execute(),
    index: (name: string, ...on: string[]) =>
      db.schema
        .createIndex(`${name}_${on.join("_")}`)
        .on(name)
        .columns(on)
        .execute(),
  };
}
