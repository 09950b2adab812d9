import { connect, type Socket } from "node:net";
import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { Browser, readable } from "../support/browser.ts";
import { startModelServer } from "../support/model-server.ts";
import { startServer, type TestServer } from "../support/server.ts";

let models: LLMock;
let server: TestServer;
let browser: Browser;
const long = Array.from(
  { length: 4000 },
  (_, n) => `Esta es la frase número ${n + 1} de una respuesta muy larga.${n % 5 === 4 ? "\n\n" : " "}`,
).join("");
beforeAll(async () => {
  models = await startModelServer();
  models.prependFixture({
    match: { userMessage: /larguísima/ },
    response: { content: long },
    chunkSize: 400,
    latency: 5,
  });
  server = await startServer({ OPENAI_BASE_URL: `${models.url}/v1`, OPENAI_API_KEY: "clave" });
  browser = new Browser(server.url);
  await browser.signUp();
  await vi.waitFor(async () => expect(await browser.html("/conversation/chat")).toContain("gpt-4o"), 10_000);
});
afterAll(async () => {
  await server.stop();
  await models.stop();
});

/** Asks for a page and never reads what comes. */
function stall(path: string): Promise<Socket> {
  const { port } = new URL(server.url);
  const cookie = [...browser.cookies].map((pair) => pair.join("=")).join("; ");
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), "127.0.0.1", () => {
      socket.pause();
      socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nCookie: ${cookie}\r\n\r\n`, () =>
        resolve(socket),
      );
    }).on("error", reject);
  });
}

// Their cost in memory: `npm run bench -- held`.
it("three hundred readers that never read hold up nobody", async () => {
  const chat = await browser.say("Una respuesta larguísima");
  const stalled = await Promise.all(Array.from({ length: 300 }, () => stall(chat)));
  const last = "Esta es la frase número 4000 de una respuesta muy larga.";
  const other = new Browser(server.url);
  await other.signUp();
  expect(readable(await other.html(await other.say("Una respuesta larguísima")))).toContain(last);
  for (const socket of stalled) socket.destroy();
  await vi.waitFor(async () => expect(readable(await browser.html(chat))).toContain(last), 10_000);
  expect(readable(await browser.html(await browser.say("Hola")))).toContain("Con dos frases.");
  expect(server.process.exitCode).toBe(null);
});
