import { execFile } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { gunzipSync } from "node:zlib";
import type { LLMock } from "@copilotkit/aimock";
import { TOTP } from "otpauth";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../app/db/connection.server.ts";
import { contentHashes } from "../../app/db/content.server.ts";
import { createLog } from "../../app/process/log.server.ts";
import { Browser, readable } from "../support/browser.ts";
import { findPostgres, sharedEngines } from "../support/engines.ts";
import { startModelServer } from "../support/model-server.ts";
import { password } from "../support/password.ts";
import { startServer, type TestServer } from "../support/server.ts";

const release = join(import.meta.dirname, "..", "data", "first-release");
let models: LLMock;
let dataDir: string;
let server: TestServer;
beforeAll(async () => {
  models = await startModelServer();
});
afterAll(() => models.stop());

/** A data folder as the first release left it: two people, three chats, four models with a key. */
function firstRelease(): string {
  const folder = mkdtempSync(join(tmpdir(), "tertulia-"));
  writeFileSync(join(folder, "tertulia.db"), gunzipSync(readFileSync(join(release, "tertulia.db.gz"))));
  copyFileSync(join(release, "secret"), join(folder, "secret"));
  const db = new DatabaseSync(join(folder, "tertulia.db"));
  db.prepare("update models set baseUrl = ? where baseUrl is not null").run(`${models.url}/v1`);
  db.close();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function start(env: Record<string, string> = {}): Promise<Browser> {
  server = await startServer({ DATA_DIR: dataDir, ...env });
  onTestFinished(() => void server.process.kill("SIGKILL"));
  const browser = new Browser(server.url);
  await browser.signIn("ana@ejemplo.es");
  return browser;
}

function command(name: string, env: Record<string, string> = {}, ...args: string[]) {
  return new Promise<{ code: number; said: string }>((resolve) => {
    const settings = { PATH: process.env.PATH, DATA_DIR: dataDir, ...env };
    execFile(process.execPath, [`commands/${name}.ts`, ...args], { env: settings }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), said: stdout + stderr }),
    );
  });
}

const secret = () => readFileSync(join(dataDir, "secret"), "utf8");

/** Says something to a model with a key, and answers what came of it. */
async function reply(browser: Browser): Promise<string> {
  const page = await browser.html("/conversation/chat");
  const model = /<option[^>]*value="([\w-]{36})"[^>]*>gpt-4o/.exec(page)?.[1] ?? "";
  const answer = await browser.submit("/conversation/chat", "/conversation/chat", { content: "Hola", modelId: model });
  return readable(await browser.html(answer.headers.get("Location") ?? ""));
}

it("backs up and upgrades the first release's data folder", async () => {
  dataDir = firstRelease();
  const ana = await start();
  expect(readdirSync(join(dataDir, "backups"))).toEqual([expect.stringMatching(/^antes-de-0003_frame-.*\.db$/)]);
  const found = await ana.html("/conversation/chat?q=camiones");
  const chat = [...found.matchAll(/\/conversation\/chat\/[\w-]{36}/g)].at(-1)?.[0] ?? "";
  const text = readable(await ana.html(chat));
  expect(text).toContain("¿qué tal va el camión azul?");
  expect(text).toContain("Con dos frases.");
  expect(text).toContain("La suma es");
  expect(await ana.html("/conversation/chat")).not.toContain("La conversación de Luis");
  expect(await reply(ana)).toContain("Con dos frases.");
  expect(await ana.html("/admin/user")).toContain("luis@ejemplo.es");
  await server.end();
});

describe("the master secret", () => {
  it("is rotated, ends sessions, and resumes an interrupted rotation", async () => {
    dataDir = firstRelease();
    const before = secret();
    const { code, said } = await command("rotate-secret");
    expect([code, said]).toEqual([0, expect.stringContaining("Cifrado de nuevo: 4.")]);
    expect(secret()).not.toBe(before);
    const ana = await start();
    expect(await reply(ana)).toContain("Con dos frases.");
    await server.end();

    // Broken off when all was encrypted and the new one not yet in its place.
    const [old, fresh] = [secret(), "f".repeat(64)];
    writeFileSync(join(dataDir, "secret.new"), fresh);
    await expect(startServer({ DATA_DIR: dataDir })).rejects.toThrow("ended with 1");
    expect((await command("rotate-secret")).code).toBe(0);
    writeFileSync(join(dataDir, "secret"), old);
    writeFileSync(join(dataDir, "secret.new"), fresh);
    expect((await command("rotate-secret")).said).toContain("Cifrado de nuevo: 0.");
    expect([secret(), existsSync(join(dataDir, "secret.new"))]).toEqual([fresh, false]);
    expect(await reply(await start())).toContain("Con dos frases.");
    const page = await Object.assign(new Browser(server.url), { cookies: ana.cookies }).fetch("/user");
    expect(page.headers.get("Location")).toContain("/auth/signin");
    await server.end();
  });

  it("from the environment is rotated only with SESSION_SECRET_NEW", async () => {
    dataDir = firstRelease();
    const [now, next] = [secret(), "n".repeat(40)];
    rmSync(join(dataDir, "secret"));
    const without = await command("rotate-secret", { SESSION_SECRET: now });
    expect([without.code, without.said]).toEqual([1, expect.stringContaining("SESSION_SECRET_NEW")]);
    expect((await command("rotate-secret", { SESSION_SECRET: now, SESSION_SECRET_NEW: next })).code).toBe(0);
    expect(await reply(await start({ SESSION_SECRET: next }))).toContain("Con dos frases.");
    await server.end();
  });

  it("when lost, makes only model keys unreadable until entered again", async () => {
    dataDir = firstRelease();
    writeFileSync(join(dataDir, "secret"), "p".repeat(64));
    const ana = await start();
    expect(server.printed()).toContain("no se pueden leer");
    expect(await ana.html("/conversation/chat?q=camiones")).toContain("camión");
    expect(await reply(ana)).toContain("La clave de este modelo no se puede leer. Avisa a quien administra");
    expect(readable(await ana.html("/admin/sistema"))).toContain("Las claves de 4 modelos");
    const db = new DatabaseSync(join(dataDir, "tertulia.db"), { readOnly: true });
    const { id } = db.prepare("select id from models where name = 'gpt-4o'").get() as { id: string };
    db.close();
    const form = `/admin/model/${id}/editar`;
    expect(await ana.html(form)).toContain("La clave que había no se puede leer con el secreto de ahora");
    expect((await ana.change(form, { apiKey: "otra-clave" })).status).toBe(303);
    expect(await reply(ana)).toContain("Con dos frases.");
    await server.end();
  });

  it("when lost, allows sign-in once the second step is removed", async () => {
    dataDir = firstRelease();
    await start();
    const call = (method: string, path: string, json: object, token = "") =>
      fetch(`${server.url}/v1${path}`, {
        method,
        headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
        body: JSON.stringify(json),
      });
    const signin = () => call("POST", "/auth/signin", { email: "luis@ejemplo.es", password });
    const token = await (await signin()).text();
    const begun = await (await call("POST", "/auth/authenticator", {}, token)).json();
    const totp = new TOTP({ secret: (begun as { secret: string }).secret });
    const confirmed = { code: totp.generate(), secret: totp.secret.base32, currentPassword: password };
    expect((await call("PUT", "/auth/authenticator", confirmed, token)).status).toBe(200);
    await server.end();

    writeFileSync(join(dataDir, "secret"), "p".repeat(64));
    await start();
    const { ticket } = (await (await signin()).json()) as { ticket: string };
    const code = totp.generate({ timestamp: Date.now() + 30_000 });
    const refused = await call("POST", "/auth/signin/code", { ticket, code });
    expect([refused.status, ((await refused.json()) as { detail: string }).detail]).toEqual([
      422,
      "Ningún código se puede comprobar ya. Pide a quien administra que quite tu segundo paso.",
    ]);
    await server.end();
    expect((await command("remove-second-step", {}, "nadie@ejemplo.es")).code).toBe(1);
    expect((await command("remove-second-step", {}, "Luis@ejemplo.es")).said).toContain("Hecho");
    await start();
    expect((await signin()).status).toBe(200);
    await server.end();
  });
});

describe.runIf(await findPostgres())("the embedded database, copied to PostgreSQL", () => {
  it("has equal contents, works, and refuses a second copy", async () => {
    dataDir = firstRelease();
    const engine = (await sharedEngines())[0];
    const target = await engine?.open();
    if (!target) throw new Error("no PostgreSQL");
    onTestFinished(() => target.drop());
    const env = { DATABASE_URL: target.url };
    const { code, said } = await command("copy-to-postgres", env);
    expect([code, said]).toEqual([0, expect.stringMatching(/Hecho: \d+ filas, y las dos bases comparadas/)]);
    const source = await openDatabase({ dataDir, databaseUrl: undefined }, createLog("silent"));
    expect(await contentHashes(target.db)).toEqual(await contentHashes(source.db));
    await source.close();
    const again = await command("copy-to-postgres", env);
    expect([again.code, again.said]).toEqual([1, expect.stringContaining("ya tiene cuentas")]);
    const ana = await start(env);
    expect(await ana.html("/conversation/chat?q=camiones")).toContain("camión");
    expect(await reply(ana)).toContain("Con dos frases.");
    await server.end();
  });
});
