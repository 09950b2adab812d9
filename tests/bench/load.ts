// Cost of many at once, and of the API for the pages: `npm run bench -- load`.

import { mkdtempSync, rmSync } from "node:fs";
import { Agent, createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRequestListener } from "@remix-run/node-fetch-server";
import { Hono } from "hono";
import { io, type Socket } from "socket.io-client";
import { Browser } from "../support/browser.ts";
import { startPair, startServer } from "../support/server.ts";
import { add, finish, percentile } from "./figures.ts";
import { memoryOf } from "./process.ts";
import { measureStatements } from "./statements.ts";
import { measureStreams } from "./streams.ts";

// Those named on the command line, or all: `npm run bench -- load api documents`.
const measures: Record<string, () => Promise<void>> = {
  call: measureCall,
  front: measureFront,
  sockets: measureSockets,
  statements: measureStatements,
  alone: () => measureStreams("api", 60, { within: 60, beyond: { 50: 3, 95: 6 } }),
  api: async () => {
    await measureStreams("api", 200, { within: 2, cpu: 2.5, first: 50 });
    await measureStreams("api", 1000, { within: 2, cpu: 8, first: 4000 });
    await measureStreams("api", 1000, { within: 10, cpu: 7, first: 250 });
  },
  door: async () => {
    await measureStreams("door", 30, { within: 15, beyond: { 50: 2 } });
    await measureStreams("door", 500, { within: 2, ratio: 2.2 });
  },
  documents: async () => {
    await measureStreams("documents", 200, { within: 2, cpu: 3.5, first: 1000 });
    await measureStreams("documents", 1000, { within: 2, cpu: 16 });
  },
  // A class that asks at once, as pages without script, beside as many people with an account.
  rooms: async () => {
    await measureStreams("rooms", 40, { within: 2, first: 1000 });
    await measureStreams("documents", 40, { within: 2, first: 1000 });
  },
  events: () => measureStreams("events", 200, { within: 2, cpu: 4, first: 1000 }),
};
const named = process.argv.slice(2);
for (const name of named.length > 0 ? named : Object.keys(measures)) {
  if (!measures[name]) throw new Error(`there is no «${name}»; there are ${Object.keys(measures).join(", ")}`);
  await measures[name]();
}
finish();

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
  await opened.close(0, Promise.resolve());
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

/** Cost of a second process for a page whose API is another one. */
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
