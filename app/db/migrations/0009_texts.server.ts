import { type Kysely, sql } from "kysely";
import type { Engine } from "../engine.server.ts";
import { optional, schema } from "./0001_first.server.ts";

/**
 * How many bytes of text each person's messages take, kept by triggers, so that no way of writing or deleting a message can
 * forget it. A reply counts once it is no longer being written.
 */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { table, number, id } = schema(db, engine);
  await table("textUse", (t) =>
    t
      .addColumn("userId", id, (c) => optional("users", "cascade")(c).notNull().unique())
      .addColumn("bytes", number, (c) => c.notNull()),
  );
  const size = (row: string) =>
    engine === "sqlite"
      ? `(case when ${row}status = 'streaming' then 0 else length(cast(${row}content as blob)) end)`
      : `(case when ${row}status = 'streaming' then 0 else octet_length(${row}content) end)`;
  await sql`insert into "textUse" (id, "createdAt", "updatedAt", "userId", bytes)
    select "userId", 0, 0, "userId", sum(${sql.raw(size(""))}) from messages group by "userId"`.execute(db);
  const added = `insert into "textUse" (id, "createdAt", "updatedAt", "userId", bytes)
    values (new."userId", new."createdAt", new."createdAt", new."userId", ${size("new.")})
    on conflict ("userId") do update set bytes = "textUse".bytes + excluded.bytes;`;
  const removed = `update "textUse" set bytes = bytes - ${size("old.")} where "userId" = old."userId";`;
  const changed = `update "textUse" set bytes = bytes + ${size("new.")} - ${size("old.")} where "userId" = new."userId";`;
  if (engine === "sqlite") {
    await sql.raw(`create trigger messages_text_added after insert on messages begin ${added} end`).execute(db);
    await sql.raw(`create trigger messages_text_removed after delete on messages begin ${removed} end`).execute(db);
    await sql
      .raw(
        `create trigger messages_text_changed after update of content, status on messages
         when ${size("new.")} <> ${size("old.")} begin ${changed} end`,
      )
      .execute(db);
  } else {
    await sql
      .raw(
        `create function messages_text() returns trigger language plpgsql as $$ begin
         if tg_op = 'INSERT' then ${added}
         elsif tg_op = 'DELETE' then ${removed}
         elsif ${size("new.")} <> ${size("old.")} then ${changed}
         end if; return null; end $$`,
      )
      .execute(db);
    await sql
      .raw(
        "create trigger messages_text after insert or delete or update of content, status on messages for each row execute function messages_text()",
      )
      .execute(db);
  }
  // They held fast hashes of whole bodies, passwords of new accounts among them.
  await sql`delete from idempotency`.execute(db);
}
