import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { schema } from "./0001_first.server.ts";

/** Indexes by which the lists of the administration are ordered and filtered, over a million messages too. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { index, id } = schema(db, engine);
  await db.schema.dropIndex("messages_userId_id").execute();
  await index("messages", "userId", "createdAt", "id");
  await index("messages", "createdAt", "id");
  await index("messages", "status", "createdAt", "id");
  // Also for deleting a model, which leaves its messages without one.
  await index("messages", "modelId", "createdAt", "id");
  await index("chats", "modelId");
  await index("chats", "lastMessageAt", "id");
  await index("audit", "createdAt", "id");
  // The owner of the changed thing. When that account is deleted, the recorded changes are emptied (account-end.server.ts).
  await db.schema.alterTable("audit").addColumn("ownerId", id).execute();
  await index("audit", "ownerId");
}
