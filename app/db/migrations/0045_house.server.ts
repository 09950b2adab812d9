import type { Kysely } from "kysely";
import { v7 as newId } from "uuid";
import type { Engine } from "../engine.server.ts";
import { schema } from "./0001_first.server.ts";

/** The installation's own name, looks and rules for new accounts, in one row; its pictures stand apart, as no page needs their bytes. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, text } = schema(db, engine);
  await table("house", (t) =>
    t
      .addColumn("name", text, (c) => c.notNull())
      .addColumn("accent", text)
      .addColumn("logo", text)
      .addColumn("icon", text)
      .addColumn("foot", text, (c) => c.notNull())
      .addColumn("mailName", text)
      .addColumn("mailFoot", text, (c) => c.notNull())
      .addColumn("timeZone", text)
      .addColumn("signupDomains", text, (c) => c.notNull())
      .addColumn("groupIds", text),
  );
  await table("houseImages", (t) =>
    t
      .addColumn("kind", text, (c) => c.notNull().unique())
      .addColumn("mediaType", text, (c) => c.notNull())
      .addColumn("content", text, (c) => c.notNull()),
  );
  const now = Date.now();
  const first = { id: newId(), createdAt: now, updatedAt: now, name: "Tertulia" };
  await (db as Kysely<{ house: typeof first & { foot: string; mailFoot: string; signupDomains: string } }>)
    .insertInto("house")
    .values({ ...first, foot: "", mailFoot: "", signupDomains: "" })
    .execute();
}
