import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { Browser, readable } from "../support/browser.ts";
import { longReply, startModelServer } from "../support/model-server.ts";
import { mayPairPostgres, PostgresPair } from "../support/postgres-pair.ts";
import { startServer } from "../support/server.ts";

let models: LLMock;
beforeAll(async () => {
  models = await startModelServer();
});
afterAll(() => models.stop());

const statusOf = (html: string) => [...html.matchAll(/data-role="assistant" data-status="(\w+)"/g)].at(-1)?.[1];

/** Two processes on the address of a pair, and somebody with an account. */
async function begin() {
  const pair = await PostgresPair.start();
  const env = {
    DATABASE_URL: pair.url,
    SESSION_SECRET: "s".repeat(32),
    OPENAI_BASE_URL: `${models.url}/v1`,
    OPENAI_API_KEY: "clave",
  };
  const servers = [await startServer(env), await startServer(env)] as const;
  onTestFinished(async () => {
    for (const server of servers) await server.end("SIGKILL");
    await pair.delete();
  });
  const browser = new Browser(servers[0].url);
  await browser.signUp();
  await vi.waitFor(async () => expect(await browser.html("/conversation/chat")).toContain("gpt-4o"), 10_000);
  return { pair, servers, browser };
}

const isReady = (url: string) =>
  vi.waitFor(async () => expect((await fetch(`${url}/ready`)).status).toBe(200), { timeout: 60_000, interval: 500 });

describe.runIf(mayPairPostgres)("a PostgreSQL that fails over to the one that follows it", () => {
  it.each([
    { how: "with its connections broken", silent: false },
    { how: "with connections that stay open and silent, as when its machine is off", silent: true },
  ])(
    "$how: loses nothing acknowledged during a reply and recovers",
    async ({ silent }) => {
      const { pair, servers, browser } = await begin();
      const earlier = await browser.say("Hola");
      const slow = await browser.say("Una respuesta lenta");
      const page = await browser.fetch(slow);
      let read = "";
      let lost = false;
      const decoder = new TextDecoder();
      for await (const bytes of page.body ?? []) {
        read += decoder.decode(bytes, { stream: true });
        if (lost || !read.includes("Frase")) continue;
        lost = true;
        await pair.lose({ silent });
      }
      expect(readable(read)).toContain(longReply.slice(-40));

      // Nobody leads: what is written is refused with its cause and kept.
      const refused = await browser.submit("/conversation/chat", "/conversation/chat", {
        content: "Esto no se pierde",
      });
      const html = await refused.text();
      expect([refused.status, readable(html)]).toEqual([503, expect.stringMatching(/no contesta|está ocupada/)]);
      expect(html).toContain("Esto no se pierde");
      expect((await fetch(`${servers[0].url}/health`)).status).toBe(200);

      await pair.failOver();
      for (const { url } of servers) await isReady(url);
      await vi.waitFor(async () => expect(statusOf(await browser.html(slow))).toBe("complete"), {
        timeout: 60_000,
        interval: 500,
      });
      expect(readable(await browser.html(slow))).toContain("Frase número 40 de la respuesta larga.");
      expect(readable(await browser.html(earlier))).toContain("Con dos frases.");
      expect(readable(await browser.html(await browser.say("Hola de nuevo")))).toContain("Con dos frases.");
    },
    300_000,
  );
});
