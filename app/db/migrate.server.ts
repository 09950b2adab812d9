import { Migrator } from "kysely/migration";
import type { Db, Engine } from "./connection.server.ts";
import * as first from "./migrations/0001_first.server.ts";
import * as search from "./migrations/0002_search.server.ts";
import * as frame from "./migrations/0003_frame.server.ts";
import * as shares from "./migrations/0004_shares.server.ts";
import * as conversations from "./migrations/0005_conversations.server.ts";
import * as lists from "./migrations/0006_lists.server.ts";
import * as apiKeys from "./migrations/0007_api_keys.server.ts";
import * as shareLength from "./migrations/0008_share_length.server.ts";
import * as texts from "./migrations/0009_texts.server.ts";
import * as parts from "./migrations/0010_parts.server.ts";

const migrations = {
  "0001_first": first,
  "0002_search": search,
  "0003_frame": frame,
  "0004_shares": shares,
  "0005_conversations": conversations,
  "0006_lists": lists,
  "0007_api_keys": apiKeys,
  "0008_share_length": shareLength,
  "0009_texts": texts,
  "0010_parts": parts,
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

/** The migrations in their order, and when each was carried out. */
export async function carriedOut(db: Db, engine: Engine): Promise<{ name: string; at: Date | undefined }[]> {
  const all = await createMigrator(db, engine).getMigrations();
  return all.map(({ name, executedAt }) => ({ name, at: executedAt }));
}

/** How many migrations were carried out, and the names of those still to come. */
export async function pendingMigrations(db: Db, engine: Engine): Promise<{ done: number; names: string[] }> {
  const all = await carriedOut(db, engine);
  const names = all.filter(({ at }) => !at).map(({ name }) => name);
  return { done: all.length - names.length, names };
}
