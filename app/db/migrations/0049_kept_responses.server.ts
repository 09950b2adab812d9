import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { owned, schema } from "./0001_first.server.ts";

/** Responses of programs that are kept, so that the next one goes on from them. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, index, id, text, number } = schema(db, engine);
  await table("responses", (t) =>
    t
      .addColumn("userId", id, owned("users"))
      .addColumn("chatId", id, owned("chats"))
      .addColumn("messageId", id, owned("messages"))
      .addColumn("previousId", id)
      .addColumn("items", text, (c) => c.notNull())
      .addColumn("size", number, (c) => c.notNull()),
  );
  await index("responses", "userId");
  await index("responses", "chatId");
  await index("responses", "messageId");
}
