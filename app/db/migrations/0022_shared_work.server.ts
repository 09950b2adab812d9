import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { owned, schema } from "./0001_first.server.ts";

/** Members of projects, and chats that are shown to groups. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, index, text, id } = schema(db, engine);
  await table("projectMembers", (t) =>
    t
      .addColumn("projectId", id, owned("projects"))
      .addColumn("userId", id, owned("users"))
      .addColumn("role", text, (c) => c.notNull()),
  );
  const members = db.schema.createIndex("projectMembers_userId_projectId").on("projectMembers");
  await members.columns(["userId", "projectId"]).unique().execute();
  await index("projectMembers", "projectId");
  await table("shownChats", (t) => t.addColumn("chatId", id, owned("chats")).addColumn("groupId", id, owned("groups")));
  await db.schema
    .createIndex("shownChats_groupId_chatId")
    .on("shownChats")
    .columns(["groupId", "chatId"])
    .unique()
    .execute();
  await index("shownChats", "chatId");
}
