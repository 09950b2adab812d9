// The figures that this version answers for, each beside its reach: `npm run bench`. Build first (`npm run build`).

import { readFileSync } from "node:fs";
import { Agent, createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { brotliCompressSync } from "node:zlib";
import { Browser } from "../support/browser.ts";
import { startServer } from "../support/server.ts";

type Row = { what: string; figure: number; unit: string; reach: number };
const rows: Row[] = [];
const add = (what: string, figure: number, unit: string, reach: number) => rows.push({ what, figure, unit, reach });

const agent = new Agent({ keepAlive: true, maxSockets: 20 });
const model = await startModel();
const begun = performance.now();
const server = await startServer({ OPENAI_BASE_URL: model.url, OPENAI_API_KEY: "x", LOG_LEVEL: "silent" });
await fetch(server.url);
add("first page after the start", (performance.now() - begun) / 1000, "s", 0.8);
add("idle memory", memoryOf(server.process.pid ?? 0), "MB", 140);

const browser = new Browser(server.url);
await browser.signUp();
await waitForModel();
await measureSizes();
await measureFirstToken();
await measureLaterTokens();
await measureRequests();

await server.stop();
model.stop();
print();
process.exit(rows.some(({ figure, reach, unit }) => (unit === "/s" ? figure < reach : figure > reach)) ? 1 : 0);

async function measureSizes() {
  let chat = await browser.say("Mensaje 0");
  await browser.html(chat);
  for (let n = 1; n < 25; n++) {
    chat = await browser.say(`Mensaje ${n} con algo de texto para que pese lo suyo`, chat);
    await browser.html(chat);
  }
  const html = await browser.html(chat);
  const size = (content: string | Buffer) => brotliCompressSync(content).length / 1000;
  const asset = (path: string) => readFileSync(`build/client${path}`);
  const scripts = [...new Set([...html.matchAll(/"(\/assets\/[^"]+\.js)"/g)].map(([, path]) => path ?? ""))];
  const styles = [...html.matchAll(/href="(\/assets\/[^"]+\.css)"/g)].map(([, path]) => path ?? "");
  const js = scripts.reduce((sum, path) => sum + size(asset(path)), 0);
  const framework = scripts
    .filter((path) => path.includes("/react-"))
    .reduce((sum, path) => sum + size(asset(path)), 0);
  const css = styles.reduce((sum, path) => sum + size(asset(path)), 0);
  add("JS of a conversation page, brotli", js, "kB", 112);
  add("  of which ours", js - framework, "kB", 14);
  add("CSS, brotli", css, "kB", 12);
  add("HTML of 50 messages, brotli", size(html), "kB", 25);
  add("HTML + CSS + JS", size(html) + css + js, "kB", 150);
  // Page, style, scripts and the icons' sprite.
  add("requests", 1 + styles.length + scripts.length + 1, "", 12);
}

async function measureFirstToken() {
  let token = "";
  const added: number[] = [];
  for (let n = 0; n < 230; n++) {
    // One person may send 120 messages in a minute.
    if (n % 100 === 0) token = await accessToken();
    const sent = performance.now();
    const response = await converse(token, "hola");
    let first = 0;
    // Read to its end, title included, so that only one reply is under way.
    for await (const chunk of chunks(response)) if (chunk.type === "text") first ||= performance.now();
    if (first === 0) throw new Error("A reply came without text.");
    // The model's own time, from the arrival of its request to its first token, is not ours.
    if (n >= 30) added.push(first - sent - model.lastDelay());
  }
  add("added to the first token, p50", percentile(added, 50), "ms", 4);
  add("added to the first token, p95", percentile(added, 95), "ms", 10);
}

async function measureLaterTokens() {
  const token = await accessToken();
  const delays: number[] = [];
  const response = await converse(token, "despacio");
  for await (const chunk of chunks(response)) {
    if (chunk.type !== "text") continue;
    for (const [, time = "0"] of chunk.text.matchAll(/@([\d.]+)/g))
      delays.push(performance.timeOrigin + performance.now() - Number(time));
  }
  add("delay of a later token, p95", percentile(delays.slice(1), 95), "ms", 2);
}

async function measureRequests() {
  const token = await accessToken();
  const chat = await browser.say("Para medir");
  await browser.html(chat);
  const perSecond = async (work: () => Promise<unknown>) => {
    const until = performance.now() + 3000;
    let count = 0;
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        while (performance.now() < until) {
          await work();
          count++;
        }
      }),
    );
    return count / 3;
  };
  const headers = { Authorization: `Bearer ${token}` };
  const cookie = [...browser.cookies].map((pair) => pair.join("=")).join("; ");
  add("GET /v1/api/chat at 20 parallel", await perSecond(() => drain(ask("GET", "/v1/api/chat", headers))), "/s", 3000);
  add(
    "conversation page at 20 parallel",
    await perSecond(() => drain(ask("GET", chat, { Cookie: cookie }))),
    "/s",
    300,
  );
}

async function accessToken(): Promise<string> {
  const json = { name: "Bea", email: `${crypto.randomUUID()}@ejemplo.es`, password: "una frase larga y rara" };
  const response = await fetch(`${server.url}/v1/auth/signup`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(json),
  });
  return response.text();
}

function converse(token: string, content: string): Promise<IncomingMessage> {
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}` };
  return ask("POST", "/v1/api/intelligence/conversation", headers, JSON.stringify({ content }));
}

/** As little client as possible: fetch alone costs more than what is measured. */
function ask(method: string, path: string, headers: Record<string, string>, body = ""): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request(server.url + path, { method, headers, agent }, resolve)
      .on("error", reject)
      .end(body);
  });
}

async function* chunks(response: IncomingMessage): AsyncGenerator<{ type: string; text: string }> {
  let buffer = "";
  for await (const text of response.setEncoding("utf8")) {
    buffer += text;
    const parts = buffer.split("\n\n");
    buffer = parts.pop() ?? "";
    for (const part of parts) yield JSON.parse(part);
  }
}

async function drain(answer: Promise<IncomingMessage>): Promise<void> {
  for await (const _ of await answer);
}

/** An OpenAI-compatible server that answers at once, or, asked for it, a token every 10 ms with the time it was sent. */
async function startModel() {
  let delay = 0;
  const http = createServer(async (request, response) => {
    const arrived = performance.now();
    let body = "";
    for await (const part of request) body += part;
    if (request.url?.endsWith("/models")) return response.end(JSON.stringify({ data: [{ id: "banco" }] }));
    const send = (content: string, finish: string | null = null) =>
      response.write(
        `data: ${JSON.stringify({ id: "1", choices: [{ index: 0, delta: { content }, finish_reason: finish }] })}\n\n`,
      );
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    if (body.includes("despacio")) {
      for (let n = 0; n < 300; n++) {
        send(`@${performance.timeOrigin + performance.now()} `);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    } else {
      send("Una respuesta de **prueba**, ");
      if (!body.includes("Pon título")) delay = performance.now() - arrived;
      send("con su segunda parte.");
    }
    send("", "stop");
    response.end("data: [DONE]\n\n");
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/v1`,
    lastDelay: () => delay,
    stop: () => http.close(),
  };
}

async function waitForModel(): Promise<void> {
  while (!(await browser.html("/conversation/chat")).includes("banco"))
    await new Promise((resolve) => setImmediate(resolve));
}

/** Resident memory in MB, as Linux counts it. */
function memoryOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

function percentile(values: number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor((percent / 100) * sorted.length))] ?? Number.NaN;
}

function print() {
  for (const { what, figure, unit, reach } of rows) {
    const short = unit === "/s" ? figure < reach : figure > reach;
    console.log(
      `${short ? "✗" : "✓"} ${what.padEnd(40)} ${figure.toFixed(1).padStart(8)} ${unit.padEnd(3)} (reach ${unit === "/s" ? "≥" : "≤"} ${reach})`,
    );
  }
}
