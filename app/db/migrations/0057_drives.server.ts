import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { optional, owned, schema } from "./0001_first.server.ts";

/** Servers of files, the accounts that people have there, and the folders whose documents are a project's. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, index, id, text, number, flag } = schema(db, engine);
  await table("drives", (t) =>
    t
      .addColumn("name", text, (c) => c.notNull())
      .addColumn("address", text, (c) => c.notNull())
      .addColumn("groupIds", text)
      .addColumn("enabled", flag, (c) => c.notNull()),
  );
  await table("driveAccounts", (t) =>
    t
      .addColumn("userId", id, owned("users"))
      .addColumn("driveId", id, owned("drives"))
      .addColumn("username", text, (c) => c.notNull())
      .addColumn("password", text, (c) => c.notNull())
      .addUniqueConstraint("driveAccounts_userId_driveId", ["userId", "driveId"]),
  );
  await index("driveAccounts", "driveId");
  await table("folders", (t) =>
    t
      .addColumn("userId", id, owned("users"))
      .addColumn("accountId", id, owned("driveAccounts"))
      .addColumn("projectId", id, owned("projects"))
      .addColumn("path", text, (c) => c.notNull())
      .addColumn("lookedAt", number)
      .addColumn("problem", text)
      .addColumn("refusedAt", number)
      .addColumn("skipped", text, (c) => c.notNull())
      .addUniqueConstraint("folders_accountId_projectId_path", ["accountId", "projectId", "path"]),
  );
  await index("folders", "projectId");
  await index("folders", "userId");
  await db.schema.alterTable("files").addColumn("folderId", id, optional("folders", "set null")).execute();
  await db.schema.alterTable("files").addColumn("remotePath", text).execute();
  await db.schema.alterTable("files").addColumn("remoteTag", text).execute();
  await db.schema
    .createIndex("files_folderId_remotePath")
    .on("files")
    .columns(["folderId", "remotePath"])
    .unique()
    .execute();
}
