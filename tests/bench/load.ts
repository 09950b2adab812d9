// What many at once cost, and what the API costs the pages: `npm run bench:load`. Build first (`npm run build`).

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, createServer, get, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRequestListener } from "@remix-run/node-fetch-server";
import { Hono } from "hono";
import { io, type Socket } from "socket.io-client";
import { Browser } from "../support/browser.ts";
import { startPair, startServer } from "../support/server.ts";

const rows: { what: string; figure: number; unit: string; reach: number | undefined }[] = [];
const add = (what: string, figure: number, unit: string, reach?: number) => {
  rows.push({ what, figure, unit, reach });
  const mark = reach === undefined ? " " : figure <= reach ? "✓" : "✗";
  console.log(
    `${mark} ${what.padEnd(58)} ${figure.toFixed(2).padStart(9)} ${unit.padEnd(3)} ${reach === undefined ? "" : `(reach ≤ ${reach})`}`,
  );
};
const percentile = (values: number[], percent: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor((percent / 100) * values.length))] ??
  Number.NaN;
const memoryOf = (pid = 0) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

await measureCall();
await measureFront();
await measureSockets();
await measureStreams(200, 50);
await measureStreams(1000, 250);
process.exit(rows.some(({ figure, reach }) => reach !== undefined && !(figure <= reach)) ? 1 : 0);

/** A whole call of the API in process, its queries included, beside what a bare Hono handler answers over HTTP on this machine. */
async function measureCall() {
  const dataDir = mkdtempSync(join(tmpdir(), "tertulia-"));
  Object.assign(process.env, { DATA_DIR: dataDir, LOG_LEVEL: "silent", OLLAMA_BASE_URL: "http://127.0.0.1:9" });
  const app = (await import(
    "../../build/server/handler.js" as string
  )) as typeof import("../../app/server/handler.server.ts");
  const opened = await app.open();
  const handle = app.createHandler(opened);
  const json = { name: "Ana", email: "ana@ejemplo.es", password: "una frase larga y rara" };
  const init = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(json) };
  const token = await (await handle(new Request("http://x/v1/auth/signup", init), { ip: "127.0.0.1" })).text();
  const times: number[] = [];
  for (let n = 0; n < 6000; n++) {
    const begun = performance.now();
    const asked = new Request("http://x/v1/api/chat", { headers: { Authorization: `Bearer ${token}` } });
    await (await handle(asked, { ip: "127.0.0.1" })).text();
    if (n > 2000) times.push(performance.now() - begun);
  }
  add("a call in process, its queries included, p50", percentile(times, 50), "ms", 0.3);
  await opened.close(0);
  rmSync(dataDir, { recursive: true });

  const bare = new Hono().get("/", (c) => c.json({ items: [], nextCursor: null, total: 0 }));
  const http = createServer(createRequestListener((asked) => bare.fetch(asked)));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/`;
  const agent = new Agent({ keepAlive: true });
  const single: number[] = [];
  for (let n = 0; n < 3000; n++) single.push(await time(() => drain(url, {}, agent)));
  add("  beside it: a bare Hono handler over HTTP, p50", percentile(single, 50), "ms");
  agent.destroy();
  http.close();
}

/** What the second process adds to a page whose API is another one. */
async function measureFront() {
  const p50 = async (server: { url: string; stop(): Promise<void> }) => {
    const browser = new Browser(server.url);
    await browser.signUp();
    const headers = { Cookie: [...browser.cookies].map((pair) => pair.join("=")).join("; ") };
    const agent = new Agent({ keepAlive: true });
    const times: number[] = [];
    for (let n = 0; n < 400; n++)
      times.push(await time(() => drain(`${server.url}/conversation/chat`, headers, agent)));
    agent.destroy();
    await server.stop();
    return percentile(times.slice(100), 50);
  };
  const [whole, pair] = [await p50(await startServer()), await p50(await startPair({}))];
  add("what front-end-only mode adds to a page, p50", pair - whole, "ms", 5);
}

/** Open pages: forty people with fifty each. */
async function measureSockets() {
  const server = await startServer({ LOG_LEVEL: "silent" });
  const people: Browser[] = [];
  for (let n = 0; n < 40; n++) {
    const browser = new Browser(server.url);
    await browser.signUp();
    people.push(browser);
  }
  const before = memoryOf(server.process.pid);
  const sockets: Socket[] = [];
  for (const { cookies } of people) {
    const extraHeaders = { Cookie: [...cookies].map((pair) => pair.join("=")).join("; "), Origin: server.url };
    const own = Array.from({ length: 50 }, () =>
      io(server.url, {
        path: "/engine.io",
        transports: ["websocket"],
        extraHeaders,
        forceNew: true,
        reconnection: false,
      }),
    );
    await Promise.all(
      own.map(
        (socket) =>
          new Promise((resolve, reject) => socket.once("connect", () => resolve(0)).once("connect_error", reject)),
      ),
    );
    sockets.push(...own);
  }
  add(`${sockets.length} open pages`, memoryOf(server.process.pid) - before, "MB", 100);
  const [first] = people;
  const waits: number[] = [];
  for (let n = 0; n < 100 && first; n++) {
    const begun = performance.now();
    const told = new Promise<number>((resolve) =>
      sockets[0]?.once("changed", () => resolve(performance.now() - begun)),
    );
    await first.submit("/conversation/project/crear", "/conversation/project/crear", { name: `Proyecto ${n}` });
    waits.push(await told);
  }
  add("a form sent, its page fetched before it, to another tab told, p95", percentile(waits, 95), "ms", 100);
  for (const socket of sockets) socket.disconnect();
  await server.stop();
}

/** Replies of twenty tokens a second at the same time, as programs ask for them. */
async function measureStreams(count: number, firstReach: number) {
  const model = await startModel(20, 60);
  const server = await startServer({ LOG_LEVEL: "silent", OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "x" });
  const tokens: string[] = [];
  for (let n = 0; n < Math.ceil(count / 16); n++) {
    const json = { name: "Ana", email: `${crypto.randomUUID()}@ejemplo.es`, password: "una frase larga y rara" };
    const headers = { "Content-Type": "application/json" };
    tokens.push(
      await (
        await fetch(`${server.url}/v1/auth/signup`, { method: "POST", headers, body: JSON.stringify(json) })
      ).text(),
    );
  }
  const before = memoryOf(server.process.pid);
  const firsts: number[] = [];
  const delays: number[] = [];
  let ended = 0;
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, memoryOf(server.process.pid));
  }, 200);
  const agent = new Agent({ keepAlive: true, maxSockets: count });
  await Promise.all(
    Array.from({ length: count }, async (_, n) => {
      // Over two seconds, as people come.
      await new Promise((resolve) => setTimeout(resolve, (n / count) * 2000));
      const headers = { "Content-Type": "application/json", Authorization: `Bearer ${tokens[n % tokens.length]}` };
      const asked = performance.timeOrigin + performance.now();
      let seen = false;
      await new Promise<void>((resolve, reject) => {
        request(`${server.url}/v1/api/intelligence/conversation`, { method: "POST", headers, agent }, (response) => {
          response.setEncoding("utf8").on("data", (text: string) => {
            const now = performance.timeOrigin + performance.now();
            for (const [, at = "0", late = "0"] of text.matchAll(/@([\d.]+)\+([\d.]+)/g)) {
              if (!seen) firsts.push(now - asked - Number(late));
              else delays.push(now - Number(at));
              seen = true;
            }
            if (text.includes('"status":"complete"')) ended++;
          });
          response.on("end", resolve);
        })
          .on("error", reject)
          .end(JSON.stringify({ content: "Cuéntame" }));
      });
    }),
  );
  clearInterval(watch);
  agent.destroy();
  add(`${count} streams: not completed`, count - ended, "", 0);
  add(`${count} streams: added to the first token, p95`, percentile(firsts, 95), "ms", firstReach);
  add(`${count} streams: delay of a later token, p95`, percentile(delays, 95), "ms", 100);
  add(`${count} streams: memory of each`, (most - before) / count, "MB", 0.1);
  await server.stop();
  model.stop();
}

/** A model that says when it sent each token, and after how long the first. */
async function startModel(perSecond: number, length: number) {
  const http = createServer(async (asked, response) => {
    const arrived = performance.now();
    let body = "";
    for await (const part of asked) body += part;
    if (asked.url?.endsWith("/models")) return response.end(JSON.stringify({ data: [{ id: "banco" }] }));
    const send = (content: string, finish: string | null = null) =>
      response.write(
        `data: ${JSON.stringify({ id: "1", choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`,
      );
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    const tokens = body.includes("Pon título") ? 1 : length;
    for (let n = 0; n < tokens; n++) {
      const now = performance.now();
      send(tokens === 1 ? "Un título" : `@${performance.timeOrigin + now}+${n === 0 ? now - arrived : 0} `);
      await new Promise((resolve) => setTimeout(resolve, 1000 / perSecond));
    }
    send("", "stop");
    response.end("data: [DONE]\n\n");
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/v1`, stop: () => http.close() };
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** As little client as possible. */
function drain(url: string, headers: Record<string, string>, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { headers, agent }, (response) => response.resume().on("end", resolve)).on("error", reject);
  });
}
