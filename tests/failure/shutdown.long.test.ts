import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { Browser, readable } from "../support/browser.ts";
import { longReply, startModelServer } from "../support/model-server.ts";
import { freePort, startServer } from "../support/server.ts";

let mock: LLMock;
beforeAll(async () => {
  mock = await startModelServer();
});
afterAll(() => mock.stop());

it.each([
  ["SIGTERM", "complete"],
  // Ctrl+C: now.
  ["SIGINT", "streaming"],
] as const)("exits with 0 on %s and leaves its reply %s", async (signal, status) => {
  const folder = mkdtempSync(join(tmpdir(), "tertulia-"));
  const server = await startServer({ DATA_DIR: folder, OPENAI_BASE_URL: `${mock.url}/v1`, OPENAI_API_KEY: "clave" });
  const browser = new Browser(server.url);
  await browser.signUp();
  await browser.say("Una respuesta lenta");
  expect(await server.end(signal)).toBe(0);
  const database = new DatabaseSync(join(folder, "tertulia.db"), { readOnly: true });
  const stored = database.prepare("select content, status from messages where role = 'assistant'").get() as {
    content: string;
    status: string;
  };
  expect(stored.status).toBe(status);
  expect(longReply.startsWith(stored.content)).toBe(true);
  expect(stored.content === longReply).toBe(status === "complete");
  database.close();
  rmSync(folder, { recursive: true });
});

it("continues an unfinished reply by itself after a restart", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tertulia-"));
  const env = { DATA_DIR: folder, OPENAI_BASE_URL: `${mock.url}/v1`, OPENAI_API_KEY: "clave" };
  const first = await startServer(env);
  const browser = new Browser(first.url);
  await browser.signUp();
  const chat = await browser.say("Una respuesta lenta");
  await first.end("SIGINT");
  const second = await startServer(env);
  onTestFinished(() => second.stop());
  const again = Object.assign(new Browser(second.url), { cookies: browser.cookies });
  // The page of a reply under way ends with the reply, which had perhaps not begun.
  expect(readable(await again.html(chat))).toMatch(/Y aquí sigue\.|Frase número 40 de la respuesta larga\./);
});

it("lets two open pages read the whole reply after SIGTERM", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tertulia-"));
  const server = await startServer({ DATA_DIR: folder, OPENAI_BASE_URL: `${mock.url}/v1`, OPENAI_API_KEY: "clave" });
  const browser = new Browser(server.url);
  await browser.signUp();
  const chat = await browser.say("Una respuesta lenta");
  const pages = await Promise.all([browser.fetch(chat), browser.fetch(chat)]);
  const ended = server.end("SIGTERM");
  const texts = await Promise.all(pages.map(async (page) => readable(await page.text())));
  for (const text of texts) expect(text).toContain("Frase número 40 de la respuesta larga.");
  expect(await ended).toBe(0);
  await expect(fetch(server.url)).rejects.toThrow();
  rmSync(folder, { recursive: true });
});

/** A server in which this runs when it gets SIGUSR2. */
const withFault = (code: string) =>
  startServer({
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(`process.on("SIGUSR2", () => { ${code} })`)}`,
    OPENAI_BASE_URL: `${mock.url}/v1`,
    OPENAI_API_KEY: "clave",
  });

it("logs an unhandled rejection without affecting anyone's reply", async () => {
  const server = await withFault("Promise.reject(new Error('suelta'))");
  onTestFinished(() => server.stop());
  const browser = new Browser(server.url);
  await browser.signUp();
  const chat = await browser.say("Una respuesta lenta");
  server.process.kill("SIGUSR2");
  await expect
    .poll(() => server.printed(), { timeout: 60_000 })
    .toContain("una tarea ha fallado sin que nadie la esperara");
  expect(server.printed()).toContain("suelta");
  expect(readable(await browser.html(chat))).toContain("Frase número 40 de la respuesta larga.");
});

it("logs an unexpected error and exits with 1", async () => {
  const server = await withFault("throw new Error('inesperada')");
  const ended = new Promise((resolve) => server.process.once("exit", resolve));
  server.process.kill("SIGUSR2");
  expect(await ended).toBe(1);
  expect(server.printed()).toContain("inesperada");
  await server.stop();
});

it("ends the server when npm receives SIGTERM", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tertulia-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const port = await freePort();
  const npm = spawn("npm", ["start"], {
    env: { ...process.env, PORT: String(port), HOST: "127.0.0.1", DATA_DIR: folder },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(npm, "exit");
  for await (const printed of npm.stdout) if (String(printed).includes("Tertulia escucha")) break;
  npm.kill("SIGTERM");
  await ended;
  const answers = () => fetch(`http://127.0.0.1:${port}/health`).then(Boolean, () => false);
  await expect.poll(answers, { timeout: 25_000 }).toBe(false);
});
