import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, expect, it } from "vitest";
import { isPublic } from "../../app/process/network/public-addresses.server.ts";
import { fieldsOf, inputFrom } from "../../app/routes/conversation/calls/schema-fields.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { sqlite } from "../support/engines.ts";
import { startScriptedModel, steps } from "../support/tool-servers.ts";

// Findings of an attack on the tools: each of these failed once.

type Rpc = { id?: number; method?: string; params?: { arguments?: object }; result?: object };
const called: string[] = [];
const answers: unknown[] = [];
let elicited = 0;
/** Connects only when the test says so. */
let gate = Promise.resolve();

const server = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  if (request.method !== "POST") return void response.writeHead(405).end();
  const message = JSON.parse(body) as Rpc;
  const kind = request.url?.slice(1) ?? "";
  if (message.method === undefined || message.id === undefined) {
    if (message.result) answers.push(message.result);
    return void response.writeHead(202).end();
  }
  await answer(kind, message, response);
});

async function answer(kind: string, { id, method, params }: Rpc, response: ServerResponse): Promise<void> {
  const send = (result: object) => {
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  };
  if (method === "initialize") {
    if (kind === "lento") await gate;
    const info = {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: kind, version: "1" },
    };
    return send(info);
  }
  if (method === "tools/list") {
    const outputSchema = { type: "object", properties: { x: { type: "string", pattern: "^(a+)+$" } } };
    const tool = { name: "haz", inputSchema: { type: "object" }, ...(kind === "patron" && { outputSchema }) };
    return send({ tools: [tool] });
  }
  if (method !== "tools/call") {
    response.writeHead(200, { "Content-Type": "application/json" });
    return void response.end(JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: "no" } }));
  }
  called.push(`${kind} ${JSON.stringify(params?.arguments)}`);
  const content = [{ type: "text", text: "hecho" }];
  if (kind === "patron") return send({ content, structuredContent: { x: `${"a".repeat(40)}!` } });
  if (kind === "pregunta") {
    const message = elicited++ === 0 ? "¿Un resumen corto?" : "¿Lo borro todo?";
    const requestedSchema = { type: "object", properties: { ok: { type: "boolean" } } };
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    const asked = {
      jsonrpc: "2.0",
      id: 900 + elicited,
      method: "elicitation/create",
      params: { message, requestedSchema },
    };
    return void response.write(`event: message\ndata: ${JSON.stringify(asked)}\n\n`);
  }
  if (kind === "lento") return send({ content });
  // The others never answer.
}

let api: Api;
let mock: LLMock;
let admin: Account;
let modelId = "";
let url = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  mock = await startScriptedModel();
  api = await openApi(sqlite);
  admin = await api.signUp("Admin");
  const json = {
    name: "m",
    provider: "openai-compatible",
    externalId: "x",
    baseUrl: `${mock.url}/v1`,
    usesTools: true,
  };
  modelId = ((await api.call("POST", "/api/model", { token: admin.token, json })).body as { id: string }).id;
});
afterAll(async () => {
  await api.close();
  await mock.stop();
  server.closeAllConnections();
  server.close();
});

type Part = {
  n: number;
  kind: string;
  status: string;
  asks: { hash: string; question: { message: string } | null } | null;
};
const read = async (id: string) =>
  (await api.call("GET", `/api/message/${id}`, { token: admin.token })).body as { status: string; parts: Part[] };
const callsOf = async (id: string) => (await read(id)).parts.filter(({ kind }) => kind === "tool");
const stop = (id: string) => api.call("POST", `/api/intelligence/conversation/${id}/stop`, { token: admin.token });
const add = async (kind: string) => {
  const json = { name: kind, kind: "mcp", address: `${url}/${kind}`, choices: { haz: { ask: false } } };
  const made = await api.call("POST", "/api/tool", { token: admin.token, json });
  return { id: (made.body as { id: string }).id, json };
};
const begin = async (kind: string, times = 1) => {
  const call = [{ name: `${kind}_haz`, input: { a: 1 } }];
  const content = steps(Array.from({ length: times }, () => call));
  return (await api.start(admin.token, { content, modelId })).messageId;
};

it("asks again before repeating a call stopped on the way", async () => {
  await add("cuelga");
  const id = await begin("cuelga", 2);
  await expect.poll(() => called.filter((one) => one.startsWith("cuelga")).length).toBe(1);
  await stop(id);
  expect((await callsOf(id)).map(({ status }) => status)).toEqual(["interrupted"]);
  await api.converse(admin.token, { parentId: id });
  expect((await callsOf(id)).map(({ status }) => status)).toEqual(["interrupted", "waiting"]);
  expect(called.filter((one) => one.startsWith("cuelga"))).toHaveLength(1);
});

it("drops a call stopped while the server is being connected", async () => {
  const { id: toolId, json } = await add("lento");
  const { promise, resolve } = Promise.withResolvers<void>();
  gate = promise;
  // Changed, it is connected to anew.
  await api.call("PUT", `/api/tool/${toolId}`, { token: admin.token, json });
  const id = await begin("lento");
  await expect.poll(async () => (await callsOf(id)).map(({ status }) => status)).toEqual(["running"]);
  await stop(id);
  resolve();
  // The next call goes over another connection, after the first would have been sent.
  const next = await begin("lento");
  await expect.poll(async () => (await read(next)).status).toBe("complete");
  expect(called.filter((one) => one.startsWith("lento"))).toHaveLength(1);
});

it("an answer to one question is no answer to another", async () => {
  await add("pregunta");
  const id = await begin("pregunta");
  await expect.poll(async () => (await read(id)).status).toBe("waiting");
  const [first] = await callsOf(id);
  expect(first?.asks?.question?.message).toBe("¿Un resumen corto?");
  const yes = { n: first?.n, hash: first?.asks?.hash, decision: "once", answer: { ok: true } };
  await api.call("POST", `/api/message/${id}/decision`, { token: admin.token, json: yes });
  await expect.poll(async () => (await callsOf(id))[0]?.asks?.question?.message).toBe("¿Lo borro todo?");
  expect(JSON.stringify(answers)).not.toContain('"accept"');
});

it("a pattern in a server's schema holds nobody up", async () => {
  await add("patron");
  const id = await begin("patron");
  // It took half a minute for 29 letters, and twice that for each more: for forty it would not end.
  await expect.poll(async () => (await read(id)).status).toBe("complete");
});

it("what the form shows is what is done", () => {
  const schema = {
    properties: { path: { type: "string", default: "/tmp/segura" }, n: { type: "integer", default: 3 } },
    required: ["n"],
  };
  const given = fieldsOf(schema, { path: null });
  expect(given.map(({ value }) => value)).toEqual(["null", ""]);
  const question = fieldsOf(schema, {}, { asksFor: true });
  const untouched = inputFrom(question, {}, (name) => (name.endsWith("path") ? "/tmp/segura" : "3"));
  expect(untouched).toEqual({ input: { path: "/tmp/segura", n: 3 }, errors: {} });
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`campo${n}`, n === 49 ? "al final" : ""]));
  expect(fieldsOf({}, many).at(-1)?.value).toContain("al final");
  const deep = JSON.parse(`${'{"a":'.repeat(2_000)}1${"}".repeat(2_000)}`) as Record<string, unknown>;
  expect(() => fieldsOf({}, deep)).not.toThrow();
});

it.each(["168.63.129.16", "::7f00:1", "4000::1", "8000::1", "::ffff:168.63.129.16"])(
  "%s is no public address",
  (address) => expect(isPublic(address)).toBe(false),
);
