import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { dump } from "../../app/backups/database.server.ts";
import { openDatabase } from "../../app/db/connection.server.ts";
import { createLog } from "../../app/process/log.server.ts";
import { openRedis } from "../../app/process/network/redis.server.ts";
import { findPostgres } from "../support/engines.ts";
import { freePort } from "../support/server.ts";

const log = createLog("silent");
const server = await findPostgres();

describe.runIf(server)("a PostgreSQL that others use as well", () => {
  /** A database of the test's own; `how`: of its creation. */
  async function database(how = ""): Promise<URL> {
    const name = `tertulia_${crypto.randomUUID().replaceAll("-", "")}`;
    await run(server ?? "", `create database ${name} ${how}`);
    onTestFinished(() => run(server ?? "", `drop database ${name} with (force)`));
    return Object.assign(new URL(server ?? ""), { pathname: `/${name}` });
  }
  async function run(url: string, sql: string): Promise<void> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(sql).finally(() => client.end());
  }

  it("serves two installations in schemas, beside another program, and copies each", async () => {
    const url = await database();
    const other = "create table public.kysely_migration (name text, timestamp text)";
    await run(
      url.href,
      `${other}; insert into kysely_migration values ('2024_other', ''); create schema a; create schema b`,
    );
    const folder = mkdtempSync(join(tmpdir(), "tertulia-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (const schema of ["a", "b"]) {
      const own = new URL(url);
      own.searchParams.set("options", `-c search_path=${schema}`);
      const opened = await openDatabase({ dataDir: folder, databaseUrl: own.href }, log);
      await opened.close();
      await dump({ engine: "postgres", url: own.href }, join(folder, schema));
      expect(existsSync(join(folder, schema))).toBe(true);
    }
  });

  it("is refused where it does not have all letters", async () => {
    const url = await database("encoding 'LATIN1' locale 'C' template template0");
    await expect(openDatabase({ dataDir: tmpdir(), databaseUrl: url.href }, log)).rejects.toThrow(
      "guarda en LATIN1, que no tiene todas las letras",
    );
  });

  it("commits whatever level of isolation it has by default", async () => {
    const url = await database();
    await run(url.href, `alter database ${url.pathname.slice(1)} set default_transaction_isolation = 'serializable'`);
    const { pool, close } = await openDatabase({ dataDir: tmpdir(), databaseUrl: url.href }, log);
    const { rows } = (await pool?.query("show transaction_isolation")) ?? { rows: [] };
    await close();
    expect(rows).toEqual([{ transaction_isolation: "read committed" }]);
  });
});

const program = ["/usr/bin/redis-server", "/usr/local/bin/redis-server"].find((path) => existsSync(path));
describe.runIf(program)("a Redis that is not as the address says", () => {
  async function redis(host: string, ...more: string[]): Promise<number> {
    const port = await freePort();
    const own = [
      "--port",
      String(port),
      "--bind",
      host,
      "--save",
      "",
      "--appendonly",
      "no",
      "--dir",
      tmpdir(),
      ...more,
    ];
    const child = spawn(program ?? "", own, { stdio: "ignore" });
    onTestFinished(async () => {
      child.kill("SIGKILL");
      await once(child, "exit");
    });
    const answers = () =>
      new Promise<void>((resolve, reject) => {
        const socket = connect(port, host, () => resolve(void socket.destroy()));
        socket.once("error", reject);
      });
    await vi.waitFor(answers, 10_000);
    return port;
  }

  it.each([
    ["a wrong password", ["--requirepass", "buena"], ":mala@", "/0", "no acepta ese usuario o esa clave"],
    ["a database that is not there", [], "", "/99", "no tiene una base con ese número"],
    ["a replica", ["--replicaof", "127.0.0.1 1"], "", "/0", "solo deja leer"],
  ])("stops the start: %s", async (_what, more, who, base, sentence) => {
    const port = await redis("127.0.0.1", ...more);
    await expect(openRedis(`redis://${who}127.0.0.1:${port}${base}`, log)).rejects.toThrow(sentence);
  });

  it("is found by an IPv6 address", async () => {
    const port = await redis("::1");
    const opened = await openRedis(`redis://[::1]:${port}`, log);
    onTestFinished(() => opened.destroy());
    expect(opened.isReady).toBe(true);
  });

  it("that is away does not stop the start", async () => {
    const opened = await openRedis(`redis://127.0.0.1:${await freePort()}`, log);
    opened.destroy();
  });
});
