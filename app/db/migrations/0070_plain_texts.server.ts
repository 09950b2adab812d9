import { type Kysely, sql } from "kysely";
import type { Engine } from "../engine.server.ts";

/** `plain`: a text in lower case without accents, for searches and alphabetical lists. SQLite gets it with each connection. */
export async function up(db: Kysely<unknown>, engine: Engine): Promise<void> {
  if (engine === "sqlite") return;
  await sql`create or replace function plain(text) returns text language sql immutable parallel safe as
    $$ select lower(regexp_replace(normalize($1, nfd), '[\u0300-\u036f]', '', 'g')) $$`.execute(db);
}
