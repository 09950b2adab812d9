import { join } from "node:path";
import { Kysely, PostgresDialect } from "kysely";
import type { Pool } from "pg";
import { type Config, ConfigError } from "../process/config.server.ts";
import type { Log } from "../process/log.server.ts";
import type { Db, Engine } from "./engine.server.ts";
import { migrate, pendingMigrations, unknownMigrations } from "./migrate.server.ts";
import { SharedClock } from "./processes/clock.server.ts";
import { PgNotify } from "./processes/notify.server.ts";
import { carefully, openPool, refuseShared } from "./processes/postgres-pool.server.ts";
import { Backups } from "./sqlite/backup.server.ts";
import { SharedSync } from "./sqlite/shared-sync.server.ts";
import { lockDataDir, openSqlite, sqliteDialect } from "./sqlite/sqlite.server.ts";
import { explainPostgres, explainSqlite, newerDatabase } from "./wrong-database.server.ts";

export type Database = {
  db: Db;
  engine: Engine;
  /** Only with SQLite; PostgreSQL has its own tools. */
  backups: Backups | undefined;
  /** Only with PostgreSQL, which several processes may share. */
  notices: PgNotify | undefined;
  clock: SharedClock;
  /** Only with PostgreSQL. */
  pool: Pool | undefined;
  close(): Promise<void>;
};

/** Opens the database of the configuration, backs it up and migrates it where needed. Throws ConfigError in one sentence. */
export function openDatabase(
  { dataDir, databaseUrl, processes = 1 }: Pick<Config, "dataDir" | "databaseUrl"> & Partial<Pick<Config, "processes">>,
  log: Log,
): Promise<Database> {
  return databaseUrl ? openPostgres(databaseUrl, processes, log) : openOrExplain(dataDir, log);
}

async function openOrExplain(dataDir: string, log: Log): Promise<Database> {
  try {
    return await openEmbedded(dataDir, log);
  } catch (error) {
    throw explainSqlite(error, dataDir);
  }
}

async function openEmbedded(dataDir: string, log: Log): Promise<Database> {
  const lock = lockDataDir(dataDir);
  if (!lock) {
    throw new ConfigError(`Otro proceso de Tertulia ya usa los datos de ${dataDir}; ciérralo o pon otro DATA_DIR.`);
  }
  const path = join(dataDir, "tertulia.db");
  const handle = openSqlite(path);
  // Fails if the file is read-only, which `begin immediate` alone does not notice.
  handle.exec("begin immediate; create table written (one); rollback");
  const sync = new SharedSync(path, log);
  const db: Db = new Kysely({ dialect: sqliteDialect(handle, () => sync.synced()) });
  const backups = new Backups(path, join(dataDir, "backups"));
  const unknown = await unknownMigrations(db, "sqlite");
  if (unknown.length > 0) throw newerDatabase(unknown, dataDir);
  const pending = await pendingMigrations(db, "sqlite");
  if (pending.done > 0 && pending.names.length > 0) {
    const { path } = await backups.make(`antes-de-${pending.names[0]}`);
    log.info({ path }, "copia hecha antes de migrar");
  }
  await migrate(db, "sqlite");
  // A transaction's journal would otherwise be written to a file as soon as it holds sixteen pages. Set after the migrations, which
  // may sort more than memory holds.
  handle.exec("pragma temp_store = memory");
  await sync.synced();
  return {
    db,
    engine: "sqlite",
    backups,
    notices: undefined,
    clock: new SharedClock(),
    pool: undefined,
    async close() {
      await db.destroy();
      await sync.close();
      lock.close();
    },
  };
}

async function openPostgres(url: string, processes: number, log: Log): Promise<Database> {
  await migrateAlone(url, log);
  const pool = await openPool(url, processes, log);
  const db: Db = new Kysely({ dialect: new PostgresDialect({ pool: carefully(pool) }) });
  try {
    await refuseShared(pool);
  } catch (error) {
    await db.destroy();
    throw explainPostgres(error);
  }
  const notices = new PgNotify(pool, log);
  const clock = new SharedClock();
  await clock.follow(db, log);
  return {
    db,
    engine: "postgres",
    backups: undefined,
    notices,
    clock,
    pool,
    async close() {
      clock.stop();
      notices.close();
      await db.destroy();
    },
  };
}

/** Migrates over connections of its own, which wait for locks as long as it takes. Throws ConfigError. */
async function migrateAlone(url: string, log: Log): Promise<void> {
  const pool = await openPool(url, 1, log, { patient: true });
  const db: Db = new Kysely({ dialect: new PostgresDialect({ pool: carefully(pool) }) });
  try {
    await refuseOldEncoding(pool);
    const unknown = await unknownMigrations(db, "postgres");
    if (unknown.length > 0) throw newerDatabase(unknown);
    await migrate(db, "postgres");
  } catch (error) {
    throw explainPostgres(error);
  } finally {
    await db.destroy();
  }
}

/** Throws ConfigError for a database whose encoding does not have all letters: messages with others would fail. */
async function refuseOldEncoding(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ server_encoding: string }>("show server_encoding");
  const encoding = rows[0]?.server_encoding ?? "";
  if (encoding === "UTF8") return;
  throw new ConfigError(
    `La base de datos de DATABASE_URL guarda en ${encoding}, que no tiene todas las letras: créala con encoding 'UTF8' template template0.`,
  );
}
