import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { unzipSync } from "fflate";
import { afterAll, expect, it, onTestFinished, vi } from "vitest";
import { chatRow, messageRow } from "../../app/db/rows.server.ts";
import { Browser, readable } from "../support/browser.ts";
import { startServer } from "../support/server.ts";

const dataDir = mkdtempSync(join(tmpdir(), "tertulia-"));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

// Enough that it takes some seconds.
const many = 6_000;

/** Gives the only person of a stopped server many conversations. */
function addChats(): void {
  const database = new DatabaseSync(join(dataDir, "tertulia.db"));
  const { id: userId } = database.prepare("select id from users").get() as { id: string };
  const add = (table: string, row: object) => {
    const names = Object.keys(row);
    database
      .prepare(
        `insert into ${table} (${names.map((name) => `"${name}"`).join()}) values (${names.map(() => "?").join()})`,
      )
      .run(...(Object.values(row) as string[]));
  };
  database.exec("begin");
  for (let n = 0; n < many; n++) {
    const chat = chatRow(Date.now(), { userId, title: `Charla ${n}` });
    add("chats", chat);
    add("messages", messageRow(Date.now(), { chatId: chat.id, userId, parentId: null, content: `Pregunta ${n}` }));
  }
  database.exec("commit");
  database.close();
}

it("a long download is complete after kill -9 and disconnection", async () => {
  const first = await startServer({ DATA_DIR: dataDir });
  const browser = new Browser(first.url);
  await browser.signUp();
  await first.end();
  addChats();

  const second = await startServer({ DATA_DIR: dataDir });
  onTestFinished(() => void second.process.kill("SIGKILL"));
  const asking = sameVisitor(second.url, browser);
  const answer = await asking.submit("/user/datos", "/user/datos", {});
  expect([answer.status, answer.headers.get("Location")]).toEqual([303, "/user/datos"]);
  await vi.waitFor(
    async () =>
      expect(readable(await asking.html("/user/datos"))).toMatch(/va el [1-9]\d? %\. Puedes cerrar esta página/),
    { timeout: 60_000, interval: 500 },
  );
  await second.end("SIGKILL");

  const third = await startServer({ DATA_DIR: dataDir });
  onTestFinished(() => void third.end());
  const back = sameVisitor(third.url, browser);
  const link = await vi.waitFor(
    async () => {
      const html = await back.html("/user/datos");
      expect(readable(html)).toContain(".zip está listo");
      return /href="(\/user\/datos\/[\w-]{36})"/.exec(html)?.[1] ?? "";
    },
    { timeout: 240_000, interval: 2000 },
  );
  const whole = await back.fetch(link);
  const size = Number(whole.headers.get("Content-Length"));
  const tag = whole.headers.get("ETag") ?? "";
  // As much as came before the line broke.
  const reader = whole.body?.getReader();
  const begun = Buffer.from((await reader?.read())?.value ?? []);
  await reader?.cancel();
  expect(begun.length).toBeLessThan(size);
  const rest = await back.fetch(link, { headers: { Range: `bytes=${begun.length}-`, "If-Range": tag } });
  expect([rest.status, rest.headers.get("Content-Length")]).toEqual([206, String(size - begun.length)]);
  const files = unzipSync(Buffer.concat([begun, Buffer.from(await rest.arrayBuffer())]));
  expect(Object.keys(files)).toHaveLength(1 + 2 * many);
}, 400_000);

/** The same browser, as the server has another port. */
function sameVisitor(url: string, before: Browser): Browser {
  const browser = new Browser(url);
  for (const [name, value] of before.cookies) browser.cookies.set(name, value);
  return browser;
}
