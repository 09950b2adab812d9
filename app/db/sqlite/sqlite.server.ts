import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type LimitNode,
  SqliteAdapter,
  SqliteDialect,
  SqliteDriver,
  SqliteQueryCompiler,
  ValueNode,
} from "kysely";
import { load as loadVectors } from "sqlite-vec";
import { faultOf } from "../../process/fault.ts";
import { withoutAccents } from "../../process/text/accents.ts";

const logAtMost = 64 * 1024 * 1024;

/**
 * Opens a database file. A commit is only written to the log: `SharedSync` syncs the log and copies it to the file, off the main
 * thread.
 */
export function openSqlite(path: string): DatabaseSync {
  const handle = new DatabaseSync(path, { allowExtension: true });
  // Compares vectors (`search/meaning.server.ts`).
  loadVectors(handle);
  handle.enableLoadExtension(false);
  handle.exec(
    "pragma journal_mode = wal; pragma synchronous = normal; pragma wal_autocheckpoint = 0; pragma foreign_keys = on; pragma busy_timeout = 5000",
  );
  // In bytes: the log is cut to this size when it begins anew.
  handle.exec(`pragma journal_size_limit = ${logAtMost}`);
  // SQLite's own lower() knows only ASCII: «árbol» would not find «Árbol».
  handle.function("lower", { deterministic: true }, (text) => (typeof text === "string" ? text.toLowerCase() : text));
  // In PostgreSQL a function of the same name, by migration 0070.
  handle.function("plain", { deterministic: true }, (text) =>
    typeof text === "string" ? withoutAccents(text.toLowerCase()) : text,
  );
  return handle;
}

/**
 * Kysely's dialect over node:sqlite. Prepared statements are cached, because preparing costs more than running most queries. A write
 * answers when `synced` has resolved.
 */
export function sqliteDialect(handle: DatabaseSync, synced: () => Promise<void>): Dialect {
  const prepared = new Map<string, ReturnType<typeof prepare>>();
  const prepare = (sql: string) => {
    const statement = handle.prepare(sql);
    const values = (parameters: ReadonlyArray<unknown>) => parameters as SQLInputValue[];
    return {
      reader: statement.columns().length > 0,
      all: (parameters: ReadonlyArray<unknown>) => statement.all(...values(parameters)),
      run: (parameters: ReadonlyArray<unknown>) =>
        // On a full disk SQLite has rolled back already; a second rollback would fail and hide the cause.
        sql === "rollback" && !handle.isTransaction
          ? { changes: 0, lastInsertRowid: 0 }
          : statement.run(...values(parameters)),
      iterate: (parameters: ReadonlyArray<unknown>) => statement.iterate(...values(parameters)),
    };
  };
  const database = {
    close: () => handle.close(),
    prepare(sql: string) {
      let statement = prepared.get(sql);
      if (!statement) {
        if (prepared.size >= 500) prepared.clear();
        statement = prepare(sql);
        prepared.set(sql, statement);
      }
      return statement;
    },
  };
  const dialect = new SqliteDialect({ database });
  dialect.createQueryCompiler = () => new LiteralLimits();
  dialect.createAdapter = () => new LockingAdapter();
  dialect.createDriver = () => new SyncedDriver(new SqliteDriver({ database }), handle, synced);
  return dialect;
}

/** Kysely's own lock would last until a write is synced; the driver's lasts as long as the connection is used. */
class LockingAdapter extends SqliteAdapter {
  override get supportsMultipleConnections() {
    return true;
  }
}

/** The driver of the single connection: a writer that releases the connection waits for the disk, while the next caller already uses it. */
class SyncedDriver implements Driver {
  readonly #driver: SqliteDriver;
  readonly #synced: () => Promise<void>;
  readonly #countChanges: () => unknown;
  #changes: unknown = 0;
  /** Resolves when the connection is free; a queue, as each waits for the one before. */
  #free: Promise<void> = Promise.resolve();
  #release: () => void = () => {};

  constructor(driver: SqliteDriver, handle: DatabaseSync, synced: () => Promise<void>) {
    this.#driver = driver;
    this.#synced = synced;
    const counted = handle.prepare("select total_changes() as n");
    this.#countChanges = () => counted.get()?.n;
  }

  init = () => this.#driver.init();
  destroy = () => this.#driver.destroy();
  /**
   * Takes the lock for writing at once. SQLite waits for a lock (`busy_timeout`) only here: a transaction that has read fails at its
   * first write when a checkpoint holds the lock.
   */
  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw("begin immediate"));
  }
  commitTransaction = (connection: DatabaseConnection) => this.#driver.commitTransaction(connection);
  rollbackTransaction = (connection: DatabaseConnection) => this.#driver.rollbackTransaction(connection);

  async acquireConnection(): Promise<DatabaseConnection> {
    const before = this.#free;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#free = promise;
    await before;
    this.#release = resolve;
    return this.#driver.acquireConnection();
  }

  async releaseConnection(): Promise<void> {
    const before = this.#changes;
    try {
      this.#changes = this.#countChanges();
    } finally {
      this.#release();
    }
    if (this.#changes !== before) await this.#synced();
  }
}

/** SQLite replans whenever a LIMIT parameter is bound, which costs more than reading the rows, so limits are inlined. */
class LiteralLimits extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    const value = ValueNode.is(node.limit) ? node.limit.value : undefined;
    if (Number.isSafeInteger(value)) this.append(`limit ${value}`);
    else super.visitLimit(node);
  }
}

/**
 * Locks the data folder for this process. The operating system releases the lock when the process ends, however it ends.
 * Returns false when another process holds it.
 */
export function lockDataDir(dataDir: string): DatabaseSync | false {
  const lock = new DatabaseSync(join(dataDir, "tertulia.lock"));
  try {
    lock.exec("pragma locking_mode = exclusive; begin exclusive");
    return lock;
  } catch (error) {
    lock.close();
    if (faultOf(error).errcode === 5) return false;
    throw error;
  }
}
