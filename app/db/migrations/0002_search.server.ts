import { type Kysely, sql } from "kysely";
import type { Engine } from "../engine.server.ts";
import { optional, schema } from "./0001_first.server.ts";

/** The passages that search finds. Both engines index the same words, made in JavaScript (`search.server.ts`). */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  const { id, text } = schema(db, engine);
  await db.schema
    .createTable("passages")
    .addColumn("seq", engine === "postgres" ? "bigserial" : "integer", (c) => c.primaryKey())
    // The owner's id; empty: everyone's. Queries also check this column, because texts can contain the owner word.
    .addColumn("ownerId", id, (c) => c.notNull())
    .addColumn("messageId", id, optional("messages", "cascade"))
    .addColumn("trainingId", id, optional("trainings", "cascade"))
    .addColumn("chatId", id, optional("chats", "cascade"))
    .addColumn("text", text, (c) => c.notNull())
    .addColumn("words", text, (c) => c.notNull())
    .execute();
  for (const column of ["messageId", "trainingId", "chatId"]) {
    await db.schema.createIndex(`passages_${column}`).on("passages").column(column).execute();
  }
  if (engine === "postgres") {
    await sql`alter table passages add column vector tsvector generated always as (to_tsvector('simple', words)) stored`.execute(
      db,
    );
    await sql`create index passages_vector on passages using gin (vector)`.execute(db);
    return;
  }
  await sql`create virtual table passages_index using fts5(words, content='passages', content_rowid='seq', tokenize="unicode61 remove_diacritics 0")`.execute(
    db,
  );
  await sql`create trigger passages_added after insert on passages begin
    insert into passages_index(rowid, words) values (new.seq, new.words); end`.execute(db);
  await sql`create trigger passages_removed after delete on passages begin
    insert into passages_index(passages_index, rowid, words) values ('delete', old.seq, old.words); end`.execute(db);
  await sql`create trigger passages_changed after update on passages begin
    insert into passages_index(passages_index, rowid, words) values ('delete', old.seq, old.words);
    insert into passages_index(rowid, words) values (new.seq, new.words); end`.execute(db);
}
