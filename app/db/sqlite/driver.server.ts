import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from "kysely";

type Statement = { prepared: StatementSync; isReader: boolean; isWrite: boolean };

/** Transactions that are committed together, with one physical commit. `isDue`: it waits only for the transaction under way. */
type Group = { committed: PromiseWithResolvers<void>; isDue: boolean };

const preparedAtMost = 500;

/**
 * Kysely's driver over the one connection of node:sqlite. All writes of one turn of the event loop are one transaction of SQLite's, and each
 * transaction of Kysely's is a savepoint in it: they share the pages of the log, the commit and the sync. A writer is answered when the
 * group is committed and synced, and fails if the group's commit fails. Readers see the writes of an open group before it is committed,
 * as they see commits before they are synced.
 */
export class GroupingDriver implements Driver {
  readonly #handle: DatabaseSync;
  readonly #synced: () => Promise<void>;
  /** Cached: preparing costs more than running most queries. */
  readonly #prepared = new Map<string, Statement>();
  readonly #connection: DatabaseConnection;
  #group: Group | undefined;
  /** Whether a transaction of Kysely's is under way. */
  #inTransaction = false;
  /** Group in which the present user of the connection has written. */
  #written: Group | undefined;
  /** Resolves when the connection is free; a queue, as each waits for the one before. */
  #free: Promise<void> = Promise.resolve();
  #release: () => void = () => {};

  /** `synced`: resolves when all that is committed is on the disk. */
  constructor(handle: DatabaseSync, synced: () => Promise<void>) {
    this.#handle = handle;
    this.#synced = synced;
    this.#connection = {
      executeQuery: async <Row>(query: CompiledQuery) => this.#execute(query) as QueryResult<Row>,
      streamQuery: <Row>(query: CompiledQuery) => this.#stream<Row>(query),
    };
  }

  async init(): Promise<void> {}

  async destroy(): Promise<void> {
    this.#commit();
    this.#handle.close();
  }

  async acquireConnection(): Promise<DatabaseConnection> {
    const before = this.#free;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#free = promise;
    await before;
    this.#release = resolve;
    return this.#connection;
  }

  /** The next user has the connection while this one waits for the disk. */
  async releaseConnection(): Promise<void> {
    const group = this.#written;
    this.#written = undefined;
    if (this.#group?.isDue) this.#commit();
    this.#release();
    if (!group) return;
    await group.committed.promise;
    await this.#synced();
  }

  async beginTransaction(): Promise<void> {
    this.#join();
    this.#run("savepoint one");
    this.#inTransaction = true;
  }

  async commitTransaction(): Promise<void> {
    this.#run("release one");
    this.#inTransaction = false;
  }

  async rollbackTransaction(): Promise<void> {
    this.#inTransaction = false;
    this.#written = undefined;
    // On a full disk SQLite has rolled back already; a second rollback would fail and hide the cause.
    if (!this.#handle.isTransaction) return;
    this.#run("rollback to one");
    this.#run("release one");
  }

  /** Begins a group if none is open. SQLite waits for its lock (`busy_timeout`) only here, before anything is read. */
  #join(): Group {
    if (this.#group) return this.#group;
    this.#run("begin immediate");
    const group = { committed: Promise.withResolvers<void>(), isDue: false };
    // All its writers may have been rolled back.
    group.committed.promise.catch(() => {});
    this.#group = group;
    setImmediate(() => {
      if (this.#group !== group) return;
      group.isDue = true;
      if (!this.#inTransaction) this.#commit();
    });
    return group;
  }

  #commit(): void {
    const group = this.#group;
    this.#group = undefined;
    if (!group) return;
    try {
      this.#run("commit");
      group.committed.resolve();
    } catch (error) {
      if (this.#handle.isTransaction) this.#run("rollback");
      group.committed.reject(error);
    }
  }

  #execute({ sql, parameters }: CompiledQuery): QueryResult<unknown> {
    const { prepared, isReader, isWrite } = this.#prepare(sql);
    if (this.#inTransaction && !this.#handle.isTransaction) throw new Error("the transaction has been rolled back");
    if (isWrite && !this.#inTransaction) this.#join();
    try {
      const values = parameters as SQLInputValue[];
      if (isReader) {
        const rows = prepared.all(...values);
        if (isWrite && rows.length > 0) this.#written = this.#group;
        return { rows };
      }
      const { changes, lastInsertRowid } = prepared.run(...values);
      if (!isWrite || Number(changes) > 0) this.#written = this.#group;
      return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
    } catch (error) {
      this.#loseGroup(error);
      throw error;
    }
  }

  /** SQLite rolls the whole group back where the disk is full or broken. */
  #loseGroup(error: unknown): void {
    if (!this.#group || this.#handle.isTransaction) return;
    this.#group.committed.reject(error);
    this.#group = undefined;
  }

  async *#stream<Row>({ sql, parameters }: CompiledQuery): AsyncGenerator<QueryResult<Row>> {
    for (const row of this.#prepare(sql).prepared.iterate(...(parameters as SQLInputValue[])))
      yield { rows: [row as Row] };
  }

  #run(sql: string): void {
    this.#prepare(sql).prepared.run();
  }

  #prepare(sql: string): Statement {
    let statement = this.#prepared.get(sql);
    if (!statement) {
      if (this.#prepared.size >= preparedAtMost) this.#prepared.clear();
      const prepared = this.#handle.prepare(sql);
      statement = { prepared, isReader: prepared.columns().length > 0, isWrite: writes.test(sql) };
      this.#prepared.set(sql, statement);
    }
    return statement;
  }
}

// Statements that change rows. Others that write, such as those of migrations, are committed by themselves.
const writes = /^\s*(?:insert|update|delete|replace|with\b.*\b(?:insert|update|delete)\b)/is;
