// What many at once cost, and what the API costs the pages: `npm run bench:load`. Build first (`npm run build`).

import { spawn } from "node:child_process";
import { once } from "node:events";
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

if (!process.argv.includes("--streams")) {
  await measureCall();
  await measureFront();
  await measureSockets();
}
await measureStreams(200, 50, 2.5);
await measureStreams(1000, 4000, 8);
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

/** Replies of twenty tokens a second at the same time, as programs ask for them, beside a relay that only passes them on. */
async function measureStreams(count: number, firstReach: number, cpuReach: number) {
  const model = await startModel(20, 60);
  const relay = spawn(process.execPath, [join(import.meta.dirname, "relay.ts"), model.url], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [relayUrl] = (await once(relay.stdout, "data")) as [Buffer];
  const body = JSON.stringify({ model: "banco", stream: true, messages: [{ role: "user", content: "Cuéntame" }] });
  const floor = await load(relay.pid, count, () => ({ url: String(relayUrl).trim(), headers: {}, body }));
  relay.kill();
  add(`${count} streams through a relay: CPU`, floor.cpu, "s");
  add(`${count} streams through a relay: first token, p95`, percentile(floor.firsts, 95), "ms");

  const server = await startServer({ LOG_LEVEL: "silent", OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "x" });
  const tokens: string[] = [];
  for (let n = 0; n < Math.ceil(count / 16); n++) {
    const json = { name: "Ana", email: `${crypto.randomUUID()}@ejemplo.es`, password: "una frase larga y rara" };
    const headers = { "Content-Type": "application/json" };
    const answer = await fetch(`${server.url}/v1/auth/signup`, { method: "POST", headers, body: JSON.stringify(json) });
    tokens.push(await answer.text());
  }
  const before = memoryOf(server.process.pid);
  const url = `${server.url}/v1/api/intelligence/conversation`;
  const json = JSON.stringify({ content: "Cuéntame" });
  const own = await load(server.process.pid, count, (n) => ({
    url,
    headers: { Authorization: `Bearer ${tokens[n % tokens.length]}` },
    body: json,
  }));
  add(`${count} streams: not completed`, count - own.ended, "", 0);
  add(`${count} streams: CPU`, own.cpu, "s", cpuReach);
  add(`${count} streams: CPU, times the relay's`, own.cpu / floor.cpu, "", 2.5);
  add(`${count} streams: added to the first token, p95`, percentile(own.firsts, 95), "ms", firstReach);
  add(`${count} streams: delay of a later token, p95`, percentile(own.delays, 95), "ms", 100);
  add(`${count} streams: memory of each`, (own.most - before) / count, "MB", 0.1);
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  add(`${count} streams: memory afterwards, times that before`, memoryOf(server.process.pid) / before, "", 1.3);
  await server.stop();
  model.stop();
}

type Request = { url: string; headers: Record<string, string>; body: string };

/** Sends so many requests within two seconds, as people come, and reads what they stream. */
async function load(pid: number | undefined, count: number, ask: (n: number) => Request) {
  const firsts: number[] = [];
  const delays: number[] = [];
  let ended = 0;
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, memoryOf(pid));
  }, 200);
  const agent = new Agent({ keepAlive: true, maxSockets: count });
  const cpuBefore = cpuOf(pid);
  const one = async (_: unknown, n: number) => {
    await new Promise((resolve) => setTimeout(resolve, (n / count) * 2000));
    const { url, headers, body } = ask(n);
    const asked = performance.timeOrigin + performance.now();
    let seen = false;
    await new Promise<void>((resolve, reject) => {
      const type = { "Content-Type": "application/json" };
      request(url, { method: "POST", headers: { ...type, ...headers }, agent }, (response) => {
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
        .end(body);
    });
  };
  await Promise.all(Array.from({ length: count }, one));
  clearInterval(watch);
  agent.destroy();
  return { cpu: cpuOf(pid) - cpuBefore, firsts, delays, ended, most };
}

/** Seconds of processor that a process has used, as Linux counts them: in hundredths. */
function cpuOf(pid = 0): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
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
  // More at once than the operating system's queue would take by itself.
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", 4096, resolve));
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
