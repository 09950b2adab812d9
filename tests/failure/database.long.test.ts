import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, mkdtempSync, openSync, readdirSync, rmSync, statfsSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { LLMock } from "@copilotkit/aimock";
import pg from "pg";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { Browser, readable } from "../support/browser.ts";
import { sharedEngines } from "../support/engines.ts";
import { longReply, startModelServer } from "../support/model-server.ts";
import { password } from "../support/password.ts";
import { startServer, type TestServer } from "../support/server.ts";

let models: LLMock;
beforeAll(async () => {
  models = await startModelServer();
});
afterAll(() => models.stop());

async function begin(env: Record<string, string>) {
  const server = await startServer({ OPENAI_BASE_URL: `${models.url}/v1`, OPENAI_API_KEY: "clave", ...env });
  onTestFinished(() => void server.process.kill("SIGKILL"));
  const browser = new Browser(server.url);
  await browser.signUp();
  await vi.waitFor(async () => expect(await browser.html("/conversation/chat")).toContain("gpt-4o"), 10_000);
  return { server, browser };
}

/** A reply as far as it has come, read on while something happens to the database. */
async function readAlong(browser: Browser, happens: () => unknown) {
  const chat = await browser.say("Una respuesta lenta");
  const page = await browser.fetch(chat);
  const decoder = new TextDecoder();
  let html = "";
  let happened = false;
  for await (const bytes of page.body ?? []) {
    html += decoder.decode(bytes, { stream: true });
    // The model has begun to write: until then its prompt needs the database.
    if (happened || !html.includes("Frase")) continue;
    happened = true;
    await happens();
  }
  return { chat, text: readable(html) };
}

const statusOf = (html: string) => [...html.matchAll(/data-role="assistant" data-status="(\w+)"/g)].at(-1)?.[1];

function mayMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), "tertulia-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], { stdio: "ignore" });
    execFileSync("umount", [folder]);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A disk of some megabytes that can be filled to its last byte. */
function smallDisk(megabytes: number) {
  const folder = mkdtempSync(join(tmpdir(), "tertulia-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder]);
  onTestFinished(() => {
    execFileSync("umount", ["-l", folder]);
    rmSync(folder, { recursive: true, force: true });
  });
  const filler = join(folder, "lleno");
  return {
    folder,
    fill() {
      const db = new DatabaseSync(join(folder, "tertulia.db"));
      // Writes that the log has room for already would still succeed.
      db.exec("pragma wal_checkpoint(truncate)");
      const file = openSync(filler, "w");
      for (const size of [65_536, 4096, 1]) {
        try {
          for (;;) writeSync(file, Buffer.alloc(size));
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
        }
      }
      closeSync(file);
      db.close();
    },
    free: () => rmSync(filler),
  };
}

describe.runIf(mayMount())("a full disk", () => {
  it("lets a reply finish, refuses writes, and recovers with space", async () => {
    const disk = smallDisk(8);
    const { browser } = await begin({ DATA_DIR: disk.folder });
    const { chat, text } = await readAlong(browser, disk.fill);
    expect(text).toContain("Frase número 40 de la respuesta larga.");

    const refused = await browser.submit("/conversation/chat", "/conversation/chat", { content: "Esto no se pierde" });
    const html = await refused.text();
    expect([refused.status, html.includes("Esto no se pierde")]).toEqual([503, true]);
    expect(readable(html)).toContain("El disco del servidor está lleno y no se puede guardar nada.");
    expect((await browser.fetch("/conversation/chat")).status).toBe(200);

    disk.free();
    await vi.waitFor(async () => expect(statusOf(await browser.html(chat))).toBe("complete"), {
      timeout: 25_000,
      interval: 500,
    });
    expect(readable(await browser.html(chat))).toContain("Frase número 40 de la respuesta larga.");
    expect(readable(await browser.html(await browser.say("Hola de nuevo")))).toContain("Con dos frases.");
  });
});

describe.runIf(mayMount())("a disk that is nearly full", () => {
  it("reports a failed download preparation and deletes its partial file", async () => {
    const disk = smallDisk(20);
    const { browser } = await begin({ DATA_DIR: disk.folder });
    const noise = { raw: { width: 1200, height: 1100, channels: 3 as const } };
    const photo = await sharp(randomBytes(1200 * 1100 * 3), noise)
      .png()
      .toBuffer();
    await browser.upload([new File([new Uint8Array(photo)], "ruido.png")]);
    const { bavail, bsize } = statfsSync(disk.folder);
    writeFileSync(join(disk.folder, "casi lleno"), Buffer.alloc(bavail * bsize - photo.length / 2));
    expect((await browser.submit("/user/datos", "/user/datos", {})).status).toBe(303);
    await vi.waitFor(
      async () =>
        expect(readable(await browser.html("/user/datos"))).toContain(
          "No se han podido preparar tus datos: en el servidor no queda sitio para prepararlos.",
        ),
      { timeout: 25_000, interval: 500 },
    );
    expect(readdirSync(disk.folder, { recursive: true }).filter((name) => String(name).endsWith(".part"))).toEqual([]);
  });
});

describe("a locked database", () => {
  it("makes writers wait, then refuses while keeping their text", async () => {
    const { server, browser } = await begin({});
    const other = new DatabaseSync(join(server.dataDir, "tertulia.db"));
    other.exec("begin immediate");
    const refused = await browser.submit("/conversation/chat", "/conversation/chat", { content: "Esto no se pierde" });
    const html = await refused.text();
    expect([refused.status, html.includes("Esto no se pierde")]).toEqual([503, true]);
    expect(readable(html)).toContain("La base de datos está ocupada.");
    other.exec("rollback");
    other.close();
    // A connection that was idle while the database kept the thread may be closed as it is used again: another one is taken.
    const said = () => browser.say("Hola de nuevo");
    expect(readable(await browser.html(await said().catch(said)))).toContain("Con dos frases.");
    await server.stop();
  });
});

const postgres = (await sharedEngines())[0];

describe.runIf(postgres)("a lost PostgreSQL", () => {
  async function withDatabase() {
    const database = await postgres?.open();
    if (!database) throw new Error("no PostgreSQL");
    const other = new URL(database.url);
    other.pathname = "/postgres";
    const client = new pg.Client({ connectionString: other.href });
    await client.connect();
    const name = new URL(database.url).pathname.slice(1);
    onTestFinished(async () => {
      await client.query(`alter database ${name} with allow_connections true`);
      await client.end();
      await database.drop();
    });
    const away = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}' and application_name <> 'test'`;
    return {
      env: { DATABASE_URL: database.url },
      cut: () => client.query(away),
      async lose() {
        await client.query(`alter database ${name} with allow_connections false`);
        await client.query(away);
      },
      comeBack: () => client.query(`alter database ${name} with allow_connections true`),
    };
  }
  const alive = async (server: TestServer) => (await fetch(`${server.url}/health`)).status;

  it("is reconnected after broken connections without losing a reply", async () => {
    const database = await withDatabase();
    const { server, browser } = await begin(database.env);
    const { chat } = await readAlong(browser, async () => {
      for (let n = 0; n < 5; n++) await database.cut();
    });
    await database.cut();
    await vi.waitFor(async () => expect(statusOf(await browser.html(chat))).toBe("complete"), 15_000);
    expect(readable(await browser.html(chat))).toContain("Frase número 40 de la respuesta larga.");
    expect(await alive(server)).toBe(200);
    await server.end("SIGKILL");
  });

  it("with all connections in use reports busy and then recovers", async () => {
    const database = await withDatabase();
    const { server } = await begin(database.env);
    // Nobody can read accounts, so that each request keeps its connection.
    const locker = new pg.Client({ connectionString: database.env.DATABASE_URL, application_name: "test" });
    await locker.connect();
    await locker.query("begin; lock table users in access exclusive mode");
    const ask = async () => {
      const body = JSON.stringify({ email: `${crypto.randomUUID()}@ejemplo.es`, password });
      const headers = { "Content-Type": "application/json" };
      return fetch(`${server.url}/v1/auth/signin`, { method: "POST", headers, body });
    };
    const held = Array.from({ length: 40 }, ask);
    const late = await Promise.race(held);
    expect([late.status, ((await late.json()) as { detail: string }).detail]).toEqual([
      503,
      "La base de datos está ocupada. Vuelve a intentarlo en un momento.",
    ]);
    await locker.query("rollback");
    await locker.end();
    expect(new Set((await Promise.all(held)).map(({ status }) => status))).toEqual(new Set([401, 503]));
    expect((await ask()).status).toBe(401);
    await server.end("SIGKILL");
  });

  it("is reported while unreachable, and replies complete after recovery", async () => {
    const database = await withDatabase();
    const { server, browser } = await begin(database.env);
    const { chat, text } = await readAlong(browser, database.lose);
    expect(text).toContain(longReply.slice(-40));
    const refused = await fetch(`${server.url}/v1/auth/signin`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ email: "ana@ejemplo.es", password }),
    });
    expect([refused.status, ((await refused.json()) as { detail: string }).detail]).toEqual([
      503,
      "La base de datos no contesta. Vuelve a intentarlo en un momento.",
    ]);
    const page = await browser.fetch("/conversation/chat");
    expect([page.status, readable(await page.text())]).toEqual([503, expect.stringContaining("no contesta")]);
    expect(await alive(server)).toBe(200);
    await database.comeBack();
    await vi.waitFor(async () => expect(statusOf(await browser.html(chat))).toBe("complete"), {
      timeout: 25_000,
      interval: 500,
    });
    expect(readable(await browser.html(await browser.say("Hola de nuevo")))).toContain("Con dos frases.");
    await server.end("SIGKILL");
  });
});
