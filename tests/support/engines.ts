import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { type Database, openDatabase } from "../../app/db/connection.server.ts";
import { createLog } from "../../app/process/log.server.ts";

export type TestEngine = {
  name: Database["engine"];
  /** `url`: of PostgreSQL; empty with SQLite. */
  open(): Promise<Database & { dataDir: string; url: string; drop(): Promise<void> }>;
};

const log = createLog("silent");

/** For what has nothing to do with the engine. */
export const sqlite: TestEngine = {
  name: "sqlite",
  async open() {
    const dataDir = mkdtempSync(join(tmpdir(), "tertulia-"));
    const database = await openDatabase({ dataDir, databaseUrl: undefined }, log);
    return {
      ...database,
      dataDir,
      url: "",
      async drop() {
        await database.close();
        rmSync(dataDir, { recursive: true });
      },
    };
  },
};

const postgres = (server: string): TestEngine => ({
  name: "postgres",
  async open() {
    const name = `tertulia_${randomBytes(6).toString("hex")}`;
    await onServer(server, `create database ${name}`);
    const url = new URL(server);
    url.pathname = `/${name}`;
    const dataDir = mkdtempSync(join(tmpdir(), "tertulia-"));
    const database = await openDatabase({ dataDir, databaseUrl: url.href }, log);
    return {
      ...database,
      dataDir,
      url: url.href,
      async drop() {
        await database.close();
        rmSync(dataDir, { recursive: true });
        await onServer(server, `drop database ${name} with (force)`);
      },
    };
  },
});

/** The engines that a query is tried on: SQLite, and PostgreSQL where TEST_DATABASE_URL or the usual places on loopback answer. */
export async function queryEngines(): Promise<TestEngine[]> {
  return [sqlite, ...(await sharedEngines())];
}

/** The engine that a rule is tried on, which asks queries that others try: SQLite, or PostgreSQL with `TEST_RULES_ON=postgres`. */
export async function ruleEngines(): Promise<TestEngine[]> {
  return process.env.TEST_RULES_ON === "postgres" ? sharedEngines() : [sqlite];
}

/** For what only PostgreSQL has; where none answers, the file that asks says that it has left something out. */
export async function sharedEngines(): Promise<TestEngine[]> {
  const server = await findPostgres();
  if (server) return [postgres(server)];
  if (process.env.VITEST) {
    const { it } = await import("vitest");
    it.skip("on PostgreSQL: none answers");
  }
  return [];
}

/** The address of a PostgreSQL in which databases can be made, if there is one. */
export async function findPostgres(): Promise<string | undefined> {
  const given = process.env.TEST_DATABASE_URL;
  const usual = ["postgres", "root"].map((user) => `postgres://${user}@127.0.0.1:5432/postgres`);
  for (const url of given ? [given] : usual) {
    try {
      await onServer(url, "select 1");
      return url;
    } catch (error) {
      if (given) throw error;
    }
  }
}

async function onServer(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2000 });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
