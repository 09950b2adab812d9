import { sql } from "kysely";
import type { Db, Engine } from "../engine.server.ts";

/**
 * Runs `work` while no other process on this database runs work of the same name, so that two processes that start at the same moment
 * make everything only once. The lock is a transaction's; with SQLite there is only one process.
 */
export async function alone<Result>(
  { db, engine }: { db: Db; engine: Engine },
  name: string,
  work: () => Promise<Result>,
): Promise<Result> {
  if (engine === "sqlite") return work();
  return db.transaction().execute(async (trx) => {
    await sql`set local lock_timeout = 0`.execute(trx);
    await sql`select pg_advisory_xact_lock(hashtext(${`tertulia ${name}`}))`.execute(trx);
    return work();
  });
}
