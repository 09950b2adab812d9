import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLog } from "../../app/process/log.server.ts";
import { boundedFetch } from "../../app/tools/mcp/bounded-fetch.server.ts";
import { Connections } from "../../app/tools/mcp/connections.server.ts";
import type { McpServer } from "../../app/tools/mcp/server.ts";

type Message = { id?: number; method: string };
type Oddity = {
  /** Answers a request in its own way; false for the usual answer. */
  answers?(message: Message, response: ServerResponse): boolean;
  greeting?: object;
  result?: string;
  type?: string;
  /** Answer to a session that the server no longer knows. */
  lost?(response: ServerResponse, id: number | undefined): void;
};

let odd: Oddity = {};
let session = 0;
const server = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  if (request.method !== "POST") return void response.writeHead(405).end();
  const message = JSON.parse(body) as Message;
  const { id, method } = message;
  if (id === undefined) return void response.writeHead(202).end();
  const given = request.headers["mcp-session-id"];
  if (odd.lost && given && given !== String(session)) return odd.lost(response, id);
  if (odd.answers?.(message, response)) return;
  const headers = {
    "Content-Type": odd.type ?? "application/json",
    ...(odd.lost && { "Mcp-Session-Id": String(session) }),
  };
  const answer = (rest: string) => response.writeHead(200, headers).end(`{"jsonrpc":"2.0","id":${id},${rest}}`);
  if (method === "initialize") {
    const usual = {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "raro", version: "1" },
    };
    return answer(`"result":${JSON.stringify({ ...usual, ...odd.greeting })}`);
  }
  if (method === "tools/list") return answer('"result":{"tools":[{"name":"leer","inputSchema":{"type":"object"}}]}');
  if (method === "tools/call") return answer(odd.result ?? '"result":{"content":[{"type":"text","text":"Llueve"}]}');
  answer('"error":{"code":-32601,"message":"Method not found"}');
});
let url: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const connections = new Connections(async () => new Map(), createLog("silent"));
afterAll(() => connections.close());
let servers = 0;
const another = (): McpServer => ({
  id: `raro-${++servers}`,
  version: "1",
  name: "raro",
  secret: "clave",
  personal: false,
  target: { url },
  access: { read: async () => ({}), write: async () => {} },
});
const call = (to: McpServer) =>
  connections.call(to, "leer", {}, { signal: AbortSignal.timeout(20_000), answers: [] } as never, {
    time: 10_000,
    again: false,
  });
const json = (response: ServerResponse, body: object, status = 200) => {
  response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
  return true;
};
const isProbe = ({ method }: Message) => method === "server/discover";

describe("a server of tools is understood", () => {
  it.each<[string, Oddity]>([
    ["without a version", { greeting: { serverInfo: { name: "raro" } } }],
    ["that calls its JSON a text", { type: "text/plain" }],
    ["with null in its greeting", { greeting: { instructions: null, capabilities: { tools: {}, prompts: null } } }],
    ["that names no capabilities", { greeting: { capabilities: {} } }],
    [
      "with an error of null beside the result",
      { result: '"result":{"content":[{"type":"text","text":"Llueve"}]},"error":null' },
    ],
    ["with metadata of null", { result: '"result":{"_meta":null,"content":[{"type":"text","text":"Llueve"}]}' }],
    ["with a result under the first name of the protocol", { result: '"result":{"toolResult":"Llueve"}' }],
    ["whose result is a text", { result: '"result":"Llueve"' }],
    [
      "that fails on the newer greeting",
      { answers: (said, to) => isProbe(said) && !!to.writeHead(500).end("Internal Server Error") },
    ],
    [
      "that answers the newer greeting to nobody",
      {
        answers: (said, to) =>
          isProbe(said) && json(to, { jsonrpc: "2.0", id: null, error: { code: -32600, message: "Missing ID" } }),
      },
    ],
  ])("%s", async (_what, oddity) => {
    odd = oddity;
    const to = another();
    expect((await connections.list(to)).tools.map(({ name }) => name)).toEqual(["leer"]);
    expect(JSON.stringify(await call(to))).toContain("Llueve");
  });

  it("whose result has fields of its own", async () => {
    odd = { result: '"result":{"temperatura":20}' };
    expect(JSON.stringify(await call(another()))).toContain("temperatura");
  });

  it("whose text is a summary of its data", async () => {
    const result = { content: [{ type: "text", text: "Encontrados 2" }], structuredContent: { filas: [{ id: "A1" }] } };
    odd = { result: `"result":${JSON.stringify(result)}` };
    const text = expect.stringMatching(/^Encontrados 2\n[\s\S]*"A1"/);
    expect(await call(another())).toMatchObject({ text });
  });

  it("whose text has all of its data", async () => {
    const result = { content: [{ type: "text", text: "A1 a 20 grados" }], structuredContent: { id: "A1", grados: 20 } };
    odd = { result: `"result":${JSON.stringify(result)}` };
    expect(await call(another())).toMatchObject({ text: "A1 a 20 grados" });
  });

  it("whose pictures and texts come as files", async () => {
    const blob = (mimeType: string, bytes: string) => ({
      type: "resource",
      resource: { uri: "file:///a", mimeType, blob: Buffer.from(bytes).toString("base64") },
    });
    const content = [blob("image/png", "png"), blob("text/csv", "día;kg\n1;2"), blob("application/pdf", "%PDF")];
    odd = { result: `"result":${JSON.stringify({ content })}` };
    expect(await call(another())).toMatchObject({
      text: "(Una imagen, que la persona ve.)\n\ndía;kg\n1;2\n\n(file:///a, que no es texto)",
      made: [{ bytes: Buffer.from("png") }],
    });
  });

  it("whose errors have codes in words", async () => {
    odd = { result: '"error":{"code":"CITY_UNKNOWN","message":"No existe la ciudad"}' };
    await expect(call(another())).rejects.toThrow("«raro» ha contestado con un error: «No existe la ciudad».");
  });

  it("whose errors have their reason in the data", async () => {
    odd = { result: '"error":{"code":-32603,"message":"Internal error","data":{"detail":"Falta el año"}}' };
    await expect(call(another())).rejects.toThrow("con un error: «Internal error: Falta el año».");
  });
});

const gone = { code: -32001, message: "Session not found" };
it.each<[string, NonNullable<Oddity["lost"]>]>([
  ["an error of JSON-RPC", (response, id) => void json(response, { jsonrpc: "2.0", id, error: gone })],
  [
    "400",
    (response) =>
      void json(response, { jsonrpc: "2.0", id: null, error: { ...gone, message: "No valid session ID" } }, 400),
  ],
  ["401", (response) => void response.writeHead(401).end("Unauthorized: Session not found")],
  ["404", (response) => void response.writeHead(404).end()],
  [
    "an error that says it was never begun",
    (response, id) =>
      void json(response, { jsonrpc: "2.0", id, error: { code: -32002, message: "Server not initialized" } }),
  ],
  [
    "an error in its own words",
    (response, id) =>
      void json(response, { jsonrpc: "2.0", id, error: { code: -1, message: "Your session has expired" } }),
  ],
  [
    "an error in a stream of events",
    (response, id) => {
      const data = JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32600, message: "Session not found" } });
      response.writeHead(200, { "Content-Type": "text/event-stream" }).end(`event: message\ndata: ${data}\n\n`);
    },
  ],
  [
    "a refusal in a stream of events",
    (response) => {
      const error = { code: -32000, message: "Bad Request: Server not initialized" };
      const data = JSON.stringify({ jsonrpc: "2.0", id: null, error });
      response.writeHead(400, { "Content-Type": "text/event-stream" }).end(`event: message\ndata: ${data}\n\n`);
    },
  ],
  ["a 403 with a text as its error", (response) => void json(response, { error: "Invalid session" }, 403)],
])("a session that is lost by %s is begun anew, and the call made", async (_how, lost) => {
  odd = { lost };
  const to = another();
  await call(to);
  session++;
  expect(JSON.stringify(await call(to))).toContain("Llueve");
});

it.each([
  "Transferencia hecha, pero el correo de aviso falló: SMTP session expired",
  "Missing required argument: session",
])("a call that failed with «%s» is not made again", async (message) => {
  let calls = 0;
  odd = {
    answers({ id, method }, response) {
      if (method !== "tools/call") return false;
      calls++;
      return json(response, { jsonrpc: "2.0", id, error: { code: -32603, message } });
    },
    lost: () => {},
  };
  const to = another();
  await connections.list(to);
  await expect(call(to)).rejects.toThrow(message.slice(0, 20));
  expect(calls).toBe(1);
});

it("a stream that ends without an answer fails at once", async () => {
  odd = {
    answers({ method }, response) {
      if (method !== "tools/call") return false;
      response.writeHead(200, { "Content-Type": "text/event-stream" }).end(": hola\n\n");
      return true;
    },
  };
  await expect(call(another())).rejects.toThrow("Ha cortado la conexión sin contestar");
});

it("an answer that is none to a request of the protocol stays as it is", async () => {
  const body = '{"error":"bad_code","error_description":"No vale"}';
  odd = { answers: (_, response) => !!response.writeHead(200, { "Content-Type": "application/json" }).end(body) };
  const asked = { method: "POST", body: '{"id":1,"grant_type":"refresh_token"}' };
  expect(await (await boundedFetch(url, asked)).text()).toBe(body);
});

it("a server of the older transport is told as what it is", async () => {
  odd = { answers: (_, response) => !!response.writeHead(405).end() };
  await expect(connections.list(another())).rejects.toThrow("el transporte antiguo, SSE, no vale");
});

it("hears of other tools that a call has brought, once", async () => {
  odd = {
    greeting: { capabilities: { tools: { listChanged: true } } },
    answers({ id, method }, response) {
      if (method !== "tools/call") return false;
      const events = [
        { jsonrpc: "2.0", method: "notifications/tools/list_changed" },
        { jsonrpc: "2.0", id, result: { content: [{ type: "text", text: "Llueve" }] } },
      ];
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      response.end(events.map((event) => `event: message\ndata: ${JSON.stringify(event)}\n\n`).join(""));
      return true;
    },
  };
  const to = another();
  await call(to);
  expect([connections.takeNews(to), connections.takeNews(to)]).toEqual([true, false]);
});

it("takes a tool whose descriptions alone are too long, and one behind tools that are", async () => {
  const described = { type: "string", description: "Un dato. ".repeat(40) };
  const properties = Object.fromEntries(Array.from({ length: 90 }, (_, n) => [`dato_${n}`, described]));
  const huge = { type: "object", properties: { q: { enum: Array(5_000).fill("valor") } } };
  const tools = [
    ...Array.from({ length: 100 }, (_, n) => ({ name: `enorme_${n}`, inputSchema: huge })),
    { name: "ficha", inputSchema: { type: "object", properties } },
  ];
  odd = {
    answers({ id, method }, response) {
      if (method !== "tools/list") return false;
      response.writeHead(200, { "Content-Type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result: { tools } }));
      return true;
    },
  };
  const { tools: taken, leftOut } = await connections.list(another());
  const [first, ...others] = taken;
  expect(others).toEqual([]);
  expect(leftOut).toMatch(/Faltan: enorme_0, enorme_1,.* y 90 más\.$/);
  expect([first?.name, Object.keys(first?.schema.properties ?? {}).length]).toEqual(["ficha", 90]);
});
