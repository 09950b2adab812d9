import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { parseChunks, textOf } from "../support/api.ts";
import { Browser, readable } from "../support/browser.ts";
import { counted, startCountingModel } from "../support/counting-model.ts";
import { sharedEngines } from "../support/engines.ts";
import { startModelServer } from "../support/model-server.ts";
import { password } from "../support/password.ts";
import { startServer } from "../support/server.ts";

let mock: LLMock;
beforeAll(async () => {
  mock = await startModelServer();
});
afterAll(() => mock.stop());

it("refuses several processes on the embedded database", async () => {
  await expect(startServer({ PROCESSES: "2" })).rejects.toThrow("ended with 1");
});

const shared = await sharedEngines();

describe.each(shared)("two processes behind one port, on $name", (engine) => {
  const start = async (env: Record<string, string> = {}) => {
    const database = await engine.open();
    const server = await startServer({
      PROCESSES: "2",
      DATABASE_URL: database.url,
      OPENAI_BASE_URL: `${mock.url}/v1`,
      OPENAI_API_KEY: "clave",
      ...env,
    });
    onTestFinished(async () => {
      await server.stop();
      await database.drop();
    });
    const pids = async () => {
      const rows = await database.db.selectFrom("processes").select("pid").orderBy("id").execute();
      return rows.map(({ pid }) => pid);
    };
    await vi.waitFor(async () => expect(await pids()).toHaveLength(2), 20_000);
    return { server, pids };
  };

  it("a dead process is replaced and its replies continue", async () => {
    const { server, pids } = await start();
    const browser = new Browser(server.url);
    await browser.signUp();
    const chats = await Promise.all(
      ["uno", "dos", "tres", "cuatro"].map((n) => browser.say(`Una respuesta lenta ${n}`)),
    );
    const [first = 0, second = 0] = await pids();
    process.kill(first, "SIGKILL");
    await vi.waitFor(
      async () => expect((await pids()).filter((pid) => pid !== first && pid !== second)).toHaveLength(1),
      20_000,
    );
    // A page that was open on the dead one is asked for again; every reply comes to an end.
    for (const chat of chats) {
      await vi.waitFor(async () => expect(await browser.html(chat)).not.toContain('data-status="streaming"'), {
        timeout: 40_000,
        interval: 500,
      });
      expect(readable(await browser.html(chat))).toMatch(/Y aquí sigue\.|Frase número 40 de la respuesta larga\./);
    }
    expect(server.printed()).toContain("un proceso ha muerto");
  });

  it("a stalled process is replaced and its replies continue", async () => {
    const { server, pids } = await start();
    const browser = new Browser(server.url);
    await browser.signUp();
    const chats = await Promise.all(["uno", "dos"].map((n) => browser.say(`Una respuesta lenta ${n}`)));
    const before = await pids();
    const [first = 0] = before;
    process.kill(first, "SIGSTOP");
    await vi.waitFor(() => expect(server.printed()).toContain("no da señales de vida"), 60_000);
    await vi.waitFor(async () => expect((await pids()).filter((pid) => !before.includes(pid))).toHaveLength(1), 60_000);
    for (const chat of chats) {
      await vi.waitFor(async () => expect(await browser.html(chat)).not.toContain('data-status="streaming"'), {
        timeout: 60_000,
        interval: 500,
      });
      expect(readable(await browser.html(chat))).toMatch(/Y aquí sigue\.|Frase número 40 de la respuesta larga\./);
    }
  }, 200_000);

  it("a browser diagnosis works whichever process answers its requests", async () => {
    const { server } = await start();
    const browser = new Browser(server.url);
    await browser.signUp();
    const page = "/admin/sistema/diagnostico";
    for (let n = 0; n < 3; n++) {
      const run = (await browser.submit(page, page, {})).headers.get("Location") ?? "";
      const { body } = await browser.fetch(run);
      let html = "";
      let seen = 0;
      for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
        html += chunk;
        const pictures = [...html.matchAll(/<img src="([^"]+\/acuse\/\d+)"/g)].map(([, path = ""]) => path);
        for (const path of pictures.slice(seen)) await (await browser.fetch(path)).arrayBuffer();
        seen = pictures.length;
      }
      expect(readable(html)).toContain("Nada retiene las páginas");
    }
  });

  it("all are replaced in sequence without losing requests or replies", async () => {
    const { server, pids } = await start();
    const browser = new Browser(server.url);
    await browser.signUp();
    const before = await pids();
    const chats = await Promise.all(
      ["uno", "dos", "tres", "cuatro"].map((n) => browser.say(`Una respuesta lenta ${n}`)),
    );
    const pages = chats.map(async (chat) => readable(await browser.html(chat)));
    let isOver = false;
    const statuses = new Map<number, number>();
    const asking = Promise.all(
      Array.from({ length: 8 }, async () => {
        while (!isOver) {
          const { status, body } = await browser.fetch("/conversation/chat");
          await body?.cancel();
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }
      }),
    );
    server.process.kill("SIGHUP");
    await vi.waitFor(() => expect(server.printed()).toContain("procesos renovados"), 60_000);
    isOver = true;
    await asking;
    expect([...statuses.keys()]).toEqual([200]);
    expect((await pids()).filter((pid) => before.includes(pid))).toEqual([]);
    // The reader has read to the end, on a page without a script.
    for (const page of await Promise.all(pages)) {
      expect(page).toMatch(/Y aquí sigue\.|Frase número 40 de la respuesta larga\./);
    }
  });

  it("renewing 20 times under load cuts and repeats no reply", async () => {
    const model = await startCountingModel(40);
    onTestFinished(() => model.stop());
    const { server } = await start({ OPENAI_BASE_URL: model.url });
    const call = async (path: string, body: object, token = "") => {
      const headers = {
        "Content-Type": "application/json",
        Connection: "close",
        ...(token && { Authorization: `Bearer ${token}` }),
      };
      const answer = await fetch(`${server.url}/v1${path}`, { method: "POST", headers, body: JSON.stringify(body) });
      if (answer.status >= 400) throw new Error(await answer.text());
      return answer.text();
    };
    // So many messages of one person would be refused.
    const tokens = await Promise.all(
      [1, 2, 3, 4].map((n) => call("/auth/signup", { name: "Ana", email: `ana-${n}@ejemplo.es`, password })),
    );
    const streams: Promise<string>[] = [];
    const ask = () => {
      const token = tokens[streams.length % tokens.length];
      streams.push(call("/api/intelligence/conversation", { content: "Cuenta" }, token));
    };
    const asking = setInterval(ask, 250);
    onTestFinished(() => clearInterval(asking));
    const renewed = () => server.printed().split("procesos renovados").length - 1;
    for (let round = 1; round <= 20; round++) {
      server.process.kill("SIGHUP");
      await vi.waitFor(() => expect(renewed()).toBe(round), { timeout: 60_000, interval: 50 });
    }
    clearInterval(asking);
    const chunks = (await Promise.all(streams)).map(parseChunks);
    const ended = { text: counted, status: "complete" };
    const seen = chunks.map((all) => ({
      text: textOf(all),
      status: all.find((chunk) => chunk.type === "end")?.status,
    }));
    expect(seen).toEqual(chunks.map(() => ended));
  }, 600_000);
});
