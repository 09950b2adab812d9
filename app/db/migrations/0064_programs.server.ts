import { type Kysely, sql } from "kysely";
import { v7 as newId } from "uuid";

/** The tool that runs programs of models. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const now = Date.now();
  await sql`insert into tools (id, "createdAt", "updatedAt", name, kind, settings, allowed, enabled, seconds, kilobytes, listed, position)
    values (${newId()}, ${now}, ${now}, 'Calcular con un programa', 'program', '{}', 'everyone', 1, 20, 64, '[]',
      (select coalesce(max(position), -1) + 1 from tools))`.execute(db);
}
