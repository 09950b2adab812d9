import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { type Dialect, type LimitNode, SqliteDialect, SqliteQueryCompiler, ValueNode } from "kysely";

/** Opens a file with the settings that survived the power-loss test (tests/failure). */
export function openSqlite(path: string): DatabaseSync {
  const handle = new DatabaseSync(path);
  handle.exec(
    "pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on; pragma busy_timeout = 5000",
  );
  // SQLite's own lower() knows only ASCII: «árbol» would not find «Árbol».
  handle.function("lower", { deterministic: true }, (text) => (typeof text === "string" ? text.toLowerCase() : text));
  return handle;
}

/**
 * Kysely's dialect over node:sqlite. Prepared statements are cached, because preparing costs more than running most
 * queries.
 */
export function sqliteDialect(handle: DatabaseSync): Dialect {
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
  const dialect = new SqliteDialect({
    database: {
      close: () => handle.close(),
      prepare(sql) {
        let statement = prepared.get(sql);
        if (!statement) {
          if (prepared.size >= 500) prepared.clear();
          statement = prepare(sql);
          prepared.set(sql, statement);
        }
        return statement;
      },
    },
  });
  dialect.createQueryCompiler = () => new LiteralLimits();
  return dialect;
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
    if ((error as { errcode?: number }).errcode === 5) return false;
    throw error;
  }
}
