import { sql } from "kysely";
import type { Db, Engine } from "../engine.server.ts";

/**
 * Runs `work` while no other process on this database runs work of the same name, so that two that start at the same moment make one
 * of everything. The lock ends with its connection; with SQLite there is only one process.
 */
export async function alone<Result>(
  { db, engine }: { db: Db; engine: Engine },
  name: string,
  work: () => Promise<Result>,
): Promise<Result> {
  if (engine === "sqlite") return work();
  return db.connection().execute(async (one) => {
    await sql`select pg_advisory_lock(hashtext(${`tertulia ${name}`}))`.execute(one);
    try {
      return await work();
    } finally {
      await sql`select pg_advisory_unlock(hashtext(${`tertulia ${name}`}))`.execute(one);
    }
  });
}
