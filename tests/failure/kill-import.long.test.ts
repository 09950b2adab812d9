import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, it, onTestFinished, vi } from "vitest";
import { Browser, hiddenFields, readable } from "../support/browser.ts";
import { startServer } from "../support/server.ts";

const dataDir = mkdtempSync(join(tmpdir(), "tertulia-"));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const many = 20_000;

it("a long import brings everything once after kill -9", async () => {
  const first = await startServer({ DATA_DIR: dataDir });
  onTestFinished(() => void first.process.kill("SIGKILL"));
  const browser = new Browser(first.url);
  await browser.signUp();
  const chats = Array.from({ length: many }, (_, n) => ({
    id: `chat-${n}`,
    title: `Charla ${n}`,
    messages: [
      { id: "a", parentId: null, role: "user", content: `Pregunta ${n}` },
      { id: "b", parentId: "a", role: "assistant", content: `Respuesta ${n}` },
    ],
  }));
  const page = "/conversation/chat/importar";
  const body = new FormData();
  for (const [name, value] of Object.entries(hiddenFields(await browser.html(page), page))) body.append(name, value);
  body.append("files", new File([JSON.stringify(chats)], "charlas.json"));
  const sent = await browser.fetch(page, { method: "POST", body });
  const progress = sent.headers.get("Location") ?? "";
  expect([sent.status, progress]).toEqual([303, expect.stringMatching(/^\/conversation\/chat\/importar\/[\w-]{36}$/)]);
  const said = async () => readable(await browser.html(progress));
  expect(await said()).toMatch(/Van [\d.]+ de 20\.000 conversaciones\. Puedes cerrar esta página/);
  await first.end("SIGKILL");

  const second = await startServer({ DATA_DIR: dataDir });
  onTestFinished(() => void second.end());
  const back = new Browser(second.url);
  for (const [name, value] of browser.cookies) back.cookies.set(name, value);
  await vi.waitFor(
    async () =>
      expect(readable(await back.html(progress))).toContain("20.000 conversaciones importadas, con 40.000 mensajes."),
    {
      timeout: 240_000,
      interval: 2000,
    },
  );
  const database = new DatabaseSync(join(dataDir, "tertulia.db"));
  const count = (what: string) => Object.values(database.prepare(`select count(*) from ${what}`).get() ?? {})[0];
  expect([count("chats"), count("(select distinct title from chats)"), count("messages")]).toEqual([
    many,
    many,
    2 * many,
  ]);
  database.close();
}, 400_000);
