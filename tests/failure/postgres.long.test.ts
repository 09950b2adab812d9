import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LLMock } from "@copilotkit/aimock";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { Browser, readable } from "../support/browser.ts";
import { sharedEngines } from "../support/engines.ts";
import { startModelServer } from "../support/model-server.ts";
import { freePort, startServer } from "../support/server.ts";

let mock: LLMock;
beforeAll(async () => {
  mock = await startModelServer();
});
afterAll(() => mock.stop());

describe.each(await sharedEngines())("a PostgreSQL", (engine) => {
  /** A database, a server on it, and a connection beside the server's. */
  async function begin() {
    const database = await engine.open();
    const { url } = database;
    // The test's own connections must not count among those that are there.
    const beside = new pg.Client({ connectionString: url });
    await beside.connect();
    onTestFinished(async () => {
      await beside.end();
      await database.drop();
    });
    const start = async (env: Record<string, string> = {}) => {
      const models = { OPENAI_BASE_URL: `${mock.url}/v1`, OPENAI_API_KEY: "clave" };
      const server = await startServer({ DATABASE_URL: url, ...models, ...env });
      onTestFinished(() => server.stop());
      const browser = new Browser(server.url);
      await browser.signUp();
      return { server, browser };
    };
    const name = new URL(url).pathname.slice(1);
    return { start, beside, name, url };
  }
  const send = (browser: Browser, content: string) =>
    browser.submit("/conversation/chat", "/conversation/chat", { content });

  it("accepts writes without a restart after being temporarily read-only", async () => {
    const { start, beside, name } = await begin();
    const { server, browser } = await start();
    const ready = async () => (await fetch(`${server.url}/ready`)).status;
    expect(await ready()).toBe(200);
    await beside.query(`alter database ${name} set default_transaction_read_only = on`);
    // Those that are made from now on are told so.
    await beside.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()",
      [name],
    );
    await vi.waitFor(async () => expect(await ready()).toBe(503), 20_000);
    const refused = await send(browser, "Esto no se pierde");
    expect(refused.status).toBe(503);
    expect(await refused.text()).toContain("Esto no se pierde");
    await beside.query("set default_transaction_read_only = off");
    await beside.query(`alter database ${name} reset default_transaction_read_only`);
    await vi.waitFor(async () => expect(await ready()).toBe(200), { timeout: 30_000, interval: 100 });
    // All of its connections, not the first one alone.
    const chats = await Promise.all(Array.from({ length: 12 }, (_, n) => browser.say(`Hola ${n}`)));
    for (const chat of chats) expect(readable(await browser.html(chat))).toContain("Con dos frases.");
  });

  it("with a locked table refuses writers and keeps their text", async () => {
    const { start, beside } = await begin();
    const { browser } = await start();
    await beside.query("begin; lock table messages in access exclusive mode");
    const refused = await send(browser, "Esto no se pierde");
    expect(refused.status).toBe(503);
    expect(readable(await refused.text())).toMatch(/ocupada.*|Esto no se pierde/);
    await beside.query("rollback");
    expect(readable(await browser.html(await browser.say("Hola otra vez")))).toContain("Con dos frases.");
  });

  it("with too few connections still answers every accepted message", async () => {
    const { start, beside, name, url } = await begin();
    const role = `${name}_few`;
    // The limit is none for a superuser.
    await beside.query(`create role ${role} login password 'clave' connection limit 5`);
    onTestFinished(async () => {
      await beside.query(`drop owned by ${role}; drop role ${role}`);
    });
    await beside.query(
      `grant all on schema public to ${role}; grant all on all tables in schema public to ${role}; grant all on all sequences in schema public to ${role}`,
    );
    const { browser } = await start({
      DATABASE_URL: Object.assign(new URL(url), { username: role, password: "clave" }).href,
    });
    const sent = await Promise.all(Array.from({ length: 16 }, (_, n) => send(browser, `Hola ${n}`)));
    expect(sent.map(({ status }) => status)).toEqual(sent.map(() => 303));
    const taken = sent.map(({ headers }) => headers.get("Location") ?? "");
    for (const chat of taken) {
      await vi.waitFor(async () => expect(readable(await browser.html(chat))).toContain("Con dos frases."), 30_000);
    }
  });

  const bouncer = "/usr/sbin/pgbouncer";
  describe.runIf(existsSync(bouncer))("behind PgBouncer", () => {
    async function startBouncer(url: string, mode: string): Promise<string> {
      const folder = mkdtempSync(join(tmpdir(), "tertulia-"));
      const port = await freePort();
      const { hostname, port: behind, username, password, pathname } = new URL(url);
      const target = `host=${hostname} port=${behind || 5432} user=${username}${password && ` password=${password}`}`;
      const settings = [
        "[databases]",
        `* = ${target}`,
        "[pgbouncer]",
        `listen_addr=127.0.0.1`,
        `listen_port=${port}`,
        "unix_socket_dir=",
        "auth_type=any",
        `pool_mode=${mode}`,
        "default_pool_size=30",
        "ignore_startup_parameters=extra_float_digits",
      ];
      const file = join(folder, "pgbouncer.ini");
      writeFileSync(file, settings.join("\n"));
      const isRoot = process.getuid?.() === 0;
      // It refuses to be root.
      const child: ChildProcess = spawn(bouncer, [...(isRoot ? ["-u", "nobody"] : []), file], { stdio: "ignore" });
      onTestFinished(async () => {
        child.kill("SIGKILL");
        await once(child, "exit");
        rmSync(folder, { recursive: true });
      });
      const address = `postgres://${username}@127.0.0.1:${port}${pathname}`;
      await vi.waitFor(async () => {
        const client = new pg.Client({ connectionString: address });
        await client.connect();
        await client.end();
      }, 20_000);
      return address;
    }

    it("refuses to start in transaction mode", async () => {
      const { start, url } = await begin();
      const DATABASE_URL = await startBouncer(url, "transaction");
      await expect(start({ DATABASE_URL })).rejects.toThrow("ended with 1");
    });

    it("works in session mode like a direct connection", async () => {
      const { start, url } = await begin();
      const { browser } = await start({ DATABASE_URL: await startBouncer(url, "session") });
      expect(readable(await browser.html(await browser.say("Hola")))).toContain("Con dos frases.");
    });
  });
});
