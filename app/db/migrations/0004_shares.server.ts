import type { Kysely } from "kysely";
import type { Engine } from "../engine.server.ts";
import { optional, schema } from "./0001_first.server.ts";

/** Links by which anyone may read a chat as far as it had come. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, text, id } = schema(db, engine);
  await table("shares", (t) =>
    t
      .addColumn("chatId", id, (c) => optional("chats", "cascade")(c).notNull().unique())
      .addColumn("leafId", id, (c) => c.notNull())
      .addColumn("token", text, (c) => c.notNull().unique()),
  );
}
