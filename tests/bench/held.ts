// Memory that a server holds for those who are slow on purpose: `npm run bench -- held`.
import { connect } from "node:net";
import { Browser } from "../support/browser.ts";
import { startModelServer } from "../support/model-server.ts";
import { Raw } from "../support/raw.ts";
import { startServer } from "../support/server.ts";
import { add, finish } from "./figures.ts";
import { memoryOf } from "./process.ts";

const models = await startModelServer();
const long = Array.from(
  { length: 4000 },
  (_, n) => `Esta es la frase número ${n + 1} de una respuesta muy larga.${n % 5 === 4 ? "\n\n" : " "}`,
).join("");
models.prependFixture({
  match: { userMessage: /larguísima/ },
  response: { content: long },
  chunkSize: 400,
  latency: 5,
});
const server = await startServer({ OPENAI_BASE_URL: `${models.url}/v1`, OPENAI_API_KEY: "clave" });
const browser = new Browser(server.url);
await browser.signUp();
while (!(await browser.html("/conversation/chat")).includes("gpt-4o"))
  await new Promise((next) => setTimeout(next, 100));
const memory = () => memoryOf(server.process.pid);

// Loading and compiling after a start are nobody's cost.
const first = await browser.say("Una respuesta larguísima");
await Promise.all(Array.from({ length: 50 }, () => browser.html(first)));
const before = memory();
const chat = await browser.say("Otra respuesta larguísima");
const cookie = [...browser.cookies].map((pair) => pair.join("=")).join("; ");
const stalled = await Promise.all(Array.from({ length: 300 }, () => stall(chat)));
await browser.html(chat);
// A page of it has 330 kB; each reader has the state of its own rendering besides.
add("a reader that never reads a page of 330 kB", (memory() - before) / stalled.length, "MB", 1.3);
for (const socket of stalled) socket.destroy();

const body = `F4240\r\n${"x".repeat(1_000_000)}\r\n`.repeat(3);
const head =
  "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
const strangers = () => Array.from({ length: 60 }, () => new Raw(server.url, head + body));
for (const one of strangers()) await one.status().finally(() => one.end());
const early = memory();
const open = strangers();
for (const one of open) await one.status();
add("sixty strangers with 3 MB each that never end", memory() - early, "MB", 50);
for (const one of open) one.end();

await server.stop();
await models.stop();
finish();

/** Asks for a page and never reads what comes. */
function stall(path: string) {
  const { port } = new URL(server.url);
  const { promise, resolve, reject } = Promise.withResolvers<ReturnType<typeof connect>>();
  const socket = connect(Number(port), "127.0.0.1", () => {
    socket.pause();
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nCookie: ${cookie}\r\n\r\n`, () => resolve(socket));
  }).on("error", reject);
  return promise;
}
