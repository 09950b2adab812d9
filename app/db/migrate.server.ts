import { Migrator } from "kysely/migration";
import type { Db, Engine } from "./connection.server.ts";
import * as first from "./migrations/0001_first.server.ts";
import * as search from "./migrations/0002_search.server.ts";
import * as frame from "./migrations/0003_frame.server.ts";
import * as shares from "./migrations/0004_shares.server.ts";
import * as conversations from "./migrations/0005_conversations.server.ts";

const migrations = {
  "0001_first": first,
  "0002_search": search,
  "0003_frame": frame,
  "0004_shares": shares,
  "0005_conversations": conversations,
};

/** Kysely's migrator over our migrations, which know the engine. */
export function createMigrator(db: Db, engine: Engine): Migrator {
  return new Migrator({
    db,
    provider: {
      getMigrations: async () =>
        Object.fromEntries(
          Object.entries(migrations).map(([name, { up }]) => [name, { up: (handle) => up(handle, engine) }]),
        ),
    },
  });
}

/** Brings the database to the newest migration. Throws what the migration threw. */
export async function migrate(db: Db, engine: Engine): Promise<void> {
  const { error } = await createMigrator(db, engine).migrateToLatest();
  if (error) throw error;
}

/** How many migrations were carried out, and the names of those still to come. */
export async function pendingMigrations(db: Db, engine: Engine): Promise<{ done: number; names: string[] }> {
  const all = await createMigrator(db, engine).getMigrations();
  const names = all.filter((migration) => !migration.executedAt).map((migration) => migration.name);
  return { done: all.length - names.length, names };
}
