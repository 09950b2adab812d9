import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { createLog } from "../../app/process/log.server.ts";
import { countMessages, reconnections } from "../../app/tools/mcp/bounds.server.ts";
import { Connections } from "../../app/tools/mcp/connections.server.ts";
import type { McpServer } from "../../app/tools/mcp/server.ts";
import type { Caller } from "../../app/tools/tool.server.ts";

/** A server of tools that does to its clients what it likes: in its stream of notices, and while a tool is called. */
let onStream: (response: ServerResponse) => void;
let onCall: (response: ServerResponse, id: number) => void;
const streams: { response: ServerResponse; ended: Promise<unknown> }[] = [];
const event = (message: object) => `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`;
const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
  let body = "";
  for await (const part of request) body += part;
  const asEvents = { "Content-Type": "text/event-stream", "mcp-session-id": "uno" };
  if (request.method === "GET") {
    streams.push({ response, ended: once(response, "close") });
    response.writeHead(200, asEvents).flushHeaders();
    return onStream(response);
  }
  if (request.method !== "POST") return void response.writeHead(200).end();
  const { id, method, params } = JSON.parse(body) as { id?: number; method: string; params: Record<string, unknown> };
  if (id === undefined) return void response.writeHead(202).end();
  if (method === "tools/call") {
    response.writeHead(200, asEvents);
    return onCall(response, id);
  }
  const info = {
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "malo", version: "1" },
  };
  const tools = [{ name: "leer", inputSchema: { type: "object" } }];
  const known: Record<string, object> = { initialize: { result: info }, "tools/list": { result: { tools } } };
  const answer = known[method] ?? { error: { code: -32601, message: `Method not found: ${params ? method : ""}` } };
  response
    .writeHead(200, { "Content-Type": "application/json", "mcp-session-id": "uno" })
    .end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
});

let versions = new Map<string, string>();
let connections: Connections;
let target: McpServer;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  target = {
    id: "malo",
    name: "Malo",
    personal: false,
    version: "1",
    target: { url },
    secret: "clave",
    access: { read: async () => ({}), write: async () => {} },
  };
});
afterEach(() => connections?.close());
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function connect() {
  streams.length = 0;
  versions = new Map([["malo", "1"]]);
  onStream = () => {};
  onCall = (response, id) => response.end(event({ id, result: { content: [{ type: "text", text: "hecho" }] } }));
  connections = new Connections(async () => versions, createLog("silent"), 10);
}
const caller: Caller = {
  userId: "u",
  chatId: "c",
  projectId: null,
  sessionId: null,
  modelId: null,
  messageId: "m",
  zone: "UTC",
  signal: new AbortController().signal,
  length: 1_000,
  answers: [],
};
const call = () => connections.call(target, "leer", {}, caller, { time: 60_000, again: false });
const ask = (requestedSchema: object) =>
  event({ id: "pregunta", method: "elicitation/create", params: { mode: "form", message: "¿Cuál?", requestedSchema } });
/** Writes pieces as fast as they are taken, until nobody takes them any more. */
async function flood(response: ServerResponse, piece: string) {
  const ended = once(response, "close");
  while (!response.destroyed) if (!response.write(piece)) await Promise.race([once(response, "drain"), ended]);
}

describe("a server of tools that means harm", () => {
  it("asks for no more than a form holds", async () => {
    connect();
    const choices = Array.from({ length: 100_000 }, (_, n) => `opción ${n}`);
    const schema = { type: "object", properties: { cual: { type: "string", enum: choices } } };
    onCall = (response) => response.write(ask(schema));
    await expect(call()).rejects.toThrow("La herramienta ha preguntado más de lo que cabe en un formulario.");
    connect();
    const small = { type: "object", properties: { cual: { type: "string", enum: ["una", "otra"] } } };
    onCall = (response) => response.write(ask(small));
    expect(await call()).toEqual({ question: { message: "¿Cuál?", schema: small } });
  });

  it("floods nobody while it is called", async () => {
    connect();
    const ended: Promise<unknown>[] = [];
    onCall = (response) => {
      ended.push(flood(response, event({ method: "notifications/message", params: { level: "info", data: "x" } })));
    };
    await expect(call()).rejects.toThrow("«Malo» manda más mensajes de los que se pueden atender.");
    await Promise.all(ended);
  });

  it("is disconnected when it floods or its tool is removed", async () => {
    connect();
    onStream = (response) => {
      void flood(response, event({ method: "notifications/tools/list_changed" }));
    };
    await connections.list(target).catch(() => {});
    await vi.waitUntil(() => streams.length > 0, { timeout: 60_000 });
    await Promise.all(streams.map(({ ended }) => ended));

    connect();
    expect((await connections.list(target)).tools).toHaveLength(1);
    await vi.waitUntil(() => streams.length > 0, { timeout: 60_000 });
    versions.delete("malo");
    await Promise.all(streams.map(({ ended }) => ended));
  });

  it("ends what is under way when its tool is gone", async () => {
    connect();
    let begun: (() => void) | undefined;
    const underway = new Promise<void>((resolve) => {
      begun = resolve;
    });
    onCall = () => begun?.();
    const called = call();
    called.catch(() => {});
    await underway;
    versions.delete("malo");
    await expect(called).rejects.toThrow("«Malo» ha cortado la conexión a mitad de la llamada.");
  });

  it("is retried a limited number of times, after growing waits", () => {
    vi.useFakeTimers();
    try {
      const begun = Date.now();
      const times: number[] = [];
      const { schedule, begin } = reconnections();
      const again = () => {
        times.push(Date.now() - begun);
        schedule(again, 0);
      };
      schedule(again, 0);
      vi.advanceTimersByTime(24 * 60 * 60_000);
      expect(times).toHaveLength(12);
      expect(times.slice(0, 4)).toEqual([250, 750, 1750, 3750]);
      begin();
      schedule(again, Number.MAX_SAFE_INTEGER);
      vi.advanceTimersByTime(59_999);
      expect(times).toHaveLength(12);
      vi.advanceTimersByTime(1);
      expect(times).toHaveLength(13);
    } finally {
      vi.useRealTimers();
    }
  });

  it("is accepted until it sends too many messages at once", () => {
    let now = 0;
    const takes = countMessages(() => now);
    for (let second = 0; second < 100; second++) {
      now += 1_000;
      for (let n = 0; n < 100; n++) expect(takes()).toBe(true);
    }
    for (let n = 0; n < 2_000; n++) takes();
    expect(takes()).toBe(false);
    now += 60_000;
    expect(takes()).toBe(false);
  });
});
