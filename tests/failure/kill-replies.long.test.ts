import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { Browser, readable } from "../support/browser.ts";
import { longReply, startModelServer } from "../support/model-server.ts";
import { startServer } from "../support/server.ts";

let mock: LLMock;
const dataDir = mkdtempSync(join(tmpdir(), "tertulia-"));
beforeAll(async () => {
  mock = await startModelServer();
});
afterAll(async () => {
  await mock.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const start = () => startServer({ DATA_DIR: dataDir, OPENAI_BASE_URL: `${mock.url}/v1`, OPENAI_API_KEY: "clave" });

const kills = 20;
// The stored text may lag behind the seen one by this much: the store's 250 ms at the model's 40 pieces of 12 characters a second, and as
// much again for a busy machine.
const lag = 12 * 40 * 0.25 * 2;

it(`loses no message when killed ${kills} times in mid-reply`, async () => {
  const jar = new Browser("");
  const chats: string[] = [];
  for (let n = 0; n < kills; n++) {
    const server = await start();
    onTestFinished(() => void server.process.kill("SIGKILL"));
    const browser = Object.assign(new Browser(server.url), { cookies: jar.cookies });
    if (n === 0) await browser.signUp();
    const chat = await browser.say(`Una respuesta lenta ${n}`);
    chats.push(chat);
    const seen = await readUntil(await browser.fetch(chat), 100 + n * 60);
    await server.end("SIGKILL");

    const database = new DatabaseSync(join(dataDir, "tertulia.db"));
    // Text that is stored at the kill is to be seen at the end.
    database.exec("update models set resumes = 0");
    const stored = database
      .prepare("select content, status from messages where role = 'assistant' order by id desc limit 1")
      .get() as { content: string; status: string };
    const counts = database
      .prepare("select role, count(*) as n from messages group by role order by role")
      .all()
      .map((row) => ({ ...row }));
    database.close();
    expect(counts).toEqual([
      { role: "assistant", n: n + 1 },
      { role: "user", n: n + 1 },
    ]);
    expect(longReply.startsWith(stored.content)).toBe(true);
    expect(stored.content.length).toBeGreaterThanOrEqual(seen.length - lag);
  }

  const server = await start();
  onTestFinished(() => server.stop());
  const browser = Object.assign(new Browser(server.url), { cookies: jar.cookies });
  for (const chat of chats) {
    const html = await browser.html(chat);
    expect(html).toMatch(/data-role="assistant" data-status="interrupted"/);
    expect(readable(html)).toContain("interrumpida");
    expect(html).toMatch(/Continuar|Reintentar/);
  }
  expect(await browser.html(chats.at(-1) ?? "")).toContain("Continuar");
});

/** The reply's text as far as it has come, once it has this many characters; its reader is gone then. */
async function readUntil(response: Response, length: number): Promise<string> {
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  let html = "";
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    html += decoder.decode(value, { stream: true });
    const text = readable(html.slice(html.lastIndexOf('class="live"')).replace(/^[^>]*>/, "")).trim();
    if (done || text.length >= length) {
      await reader?.cancel();
      return text;
    }
  }
}
