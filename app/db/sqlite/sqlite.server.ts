import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  type Dialect,
  type LimitNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  ValueNode,
} from "kysely";
import { load as loadVectors } from "sqlite-vec";
import { faultOf } from "../../process/fault.ts";
import { withoutAccents } from "../../process/text/accents.ts";
import { GroupingDriver } from "./driver.server.ts";

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

/** Kysely's dialect over node:sqlite. A write answers when `synced` has resolved. */
export function sqliteDialect(handle: DatabaseSync, synced: () => Promise<void>): Dialect {
  return {
    createAdapter: () => new LockingAdapter(),
    createDriver: () => new GroupingDriver(handle, synced),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new LiteralLimits(),
  };
}

/** Kysely's own lock would last until a write is synced; the driver's lasts as long as the connection is used. */
class LockingAdapter extends SqliteAdapter {
  override get supportsMultipleConnections() {
    return true;
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
