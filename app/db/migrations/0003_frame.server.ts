import type { Kysely } from "kysely";
import { v7 as newId } from "uuid";
import type { Engine } from "../engine.server.ts";
import { firstPages } from "../first-pages.server.ts";
import type { PageRow } from "../tables.ts";
import { optional, schema } from "./0001_first.server.ts";

/** Tables for accounts and public pages; the public pages get their first texts. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, index, text, id, number } = schema(db, engine);

  await table("emails", (t) =>
    t
      .addColumn("kind", text, (c) => c.notNull())
      .addColumn("name", text, (c) => c.notNull())
      .addColumn("email", text, (c) => c.notNull())
      .addColumn("message", text, (c) => c.notNull())
      .addColumn("userId", id, optional("users", "cascade"))
      .addColumn("key", text, (c) => c.notNull().unique())
      .addColumn("sentAt", number),
  );
  await table("passwordResets", (t) =>
    t
      .addColumn("userId", id, (c) => optional("users", "cascade")(c).notNull().unique())
      .addColumn("tokenHash", text, (c) => c.notNull().unique())
      .addColumn("expiresAt", number, (c) => c.notNull()),
  );
  await table("authenticators", (t) =>
    t
      .addColumn("userId", id, (c) => optional("users", "cascade")(c).notNull().unique())
      .addColumn("secret", text, (c) => c.notNull())
      .addColumn("confirmedAt", number)
      .addColumn("lastStep", number, (c) => c.notNull())
      .addColumn("recoveryCodes", text, (c) => c.notNull()),
  );
  await index("emails", "userId");
  await index("audit", "actorId");

  const now = Date.now();
  const rows = firstPages.map((page, position) => ({
    ...page,
    id: newId(),
    createdAt: now,
    updatedAt: now,
    published: 1 as const,
    position,
  }));
  // With the columns that it has at this point.
  await (db as Kysely<{ pages: Omit<PageRow, "mustAccept" | "textAt"> }>)
    .insertInto("pages")
    .values(rows)
    // Whoever has made a page of that name already keeps it.
    .onConflict((conflict) => conflict.column("slug").doNothing())
    .execute();
}
