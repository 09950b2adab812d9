import { join } from "node:path";
import { Kysely, PostgresDialect } from "kysely";
import { type Config, ConfigError } from "../config.server.ts";
import type { Log } from "../log.server.ts";
import { Backups } from "./backup.server.ts";
import { migrate, pendingMigrations } from "./migrate.server.ts";
import { Notices } from "./notices.server.ts";
import { lockDataDir, openSqlite, sqliteDialect } from "./sqlite.server.ts";
import type { Tables } from "./tables.ts";

export type Engine = "sqlite" | "postgres";
export type Db = Kysely<Tables>;
export type Database = {
  db: Db;
  engine: Engine;
  /** Of the embedded engine; PostgreSQL has its own means. */
  backups: Backups | undefined;
  /** Of PostgreSQL, which several processes may share. */
  notices: Notices | undefined;
  close(): Promise<void>;
};

/** Opens the database of the configuration, backs it up and migrates it where needed. Throws ConfigError in one sentence. */
export function openDatabase(config: Pick<Config, "dataDir" | "databaseUrl">, log: Log): Promise<Database> {
  return config.databaseUrl ? openPostgres(config.databaseUrl, log) : openEmbedded(config.dataDir, log);
}

async function openEmbedded(dataDir: string, log: Log): Promise<Database> {
  const lock = lockDataDir(dataDir);
  if (!lock) {
    throw new ConfigError(`Otro proceso de Tertulia ya usa los datos de ${dataDir}; ciérralo o pon otro DATA_DIR.`);
  }
  const handle = openSqlite(join(dataDir, "tertulia.db"));
  const db: Db = new Kysely({ dialect: sqliteDialect(handle) });
  const backups = new Backups(handle, join(dataDir, "backups"));
  const pending = await pendingMigrations(db, "sqlite");
  if (pending.done > 0 && pending.names.length > 0) {
    const { path } = await backups.make(`antes-de-${pending.names[0]}`);
    log.info({ path }, "copia hecha antes de migrar");
  }
  await migrate(db, "sqlite");
  return {
    db,
    engine: "sqlite",
    backups,
    notices: undefined,
    async close() {
      await db.destroy();
      lock.close();
    },
  };
}

async function openPostgres(url: string, log: Log): Promise<Database> {
  // Only who uses it pays for it in start-up time and memory.
  const { default: pg } = await import("pg");
  // COUNT and BIGINT come as text otherwise; epoch milliseconds and counts fit a double.
  pg.types.setTypeParser(20, Number);
  const pool = new pg.Pool({ connectionString: url, max: 20, keepAlive: true });
  // Lost between two queries of a transaction, one that nobody listens to would end the process.
  pool.on("connect", (client) =>
    client.on("error", (error) => log.error({ err: error }, "conexión de PostgreSQL perdida")),
  );
  // Said by the connection itself.
  pool.on("error", () => {});
  const db: Db = new Kysely({ dialect: new PostgresDialect({ pool }) });
  try {
    await migrate(db, "postgres");
  } catch (cause) {
    await db.destroy();
    if ((cause as { code?: string }).code === undefined) throw cause;
    throw new ConfigError(`No se puede usar la base de datos de DATABASE_URL: ${(cause as Error).message}.`, { cause });
  }
  const notices = new Notices(pool, log);
  return {
    db,
    engine: "postgres",
    backups: undefined,
    notices,
    async close() {
      notices.close();
      await db.destroy();
    },
  };
}
