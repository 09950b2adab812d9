import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { objectOf } from "../../app/process/text/json.ts";
import { schemaForModels } from "../../app/replies/providers/tool-schema.server.ts";
import { fieldsOf, inputFrom, type SchemaField } from "../../app/routes/conversation/calls/schema-fields.ts";
import { type Account, type Api, openApi, textOf } from "../support/api.ts";
import { sqlite } from "../support/engines.ts";
import { startRecorded } from "./recorded.ts";

/** A server of tools that answers as it is told, in JSON, as text, so that numbers go out as they are written here. */
let result = "";
let status = 200;
let refusal = "";
let listed = "";
let delay: Promise<void> | undefined;
const called: string[] = [];
const server = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  if (request.method !== "POST") return void response.writeHead(405).end();
  const { id, method, params } = JSON.parse(body) as {
    id?: number;
    method: string;
    params?: { protocolVersion?: string };
  };
  if (id === undefined) return void response.writeHead(202).end();
  const answer = (text: string) =>
    response
      .writeHead(200, { "Content-Type": "application/json" })
      .end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},${text}}`);
  if (method === "initialize") {
    const info = {
      protocolVersion: params?.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "raro", version: "1" },
    };
    return answer(`"result":${JSON.stringify(info)}`);
  }
  if (method === "tools/list") {
    await delay;
    return answer(`"result":${listed}`);
  }
  if (method !== "tools/call") return answer('"error":{"code":-32601,"message":"Method not found"}');
  called.push(body);
  if (status !== 200) return response.writeHead(status, { "Content-Type": "application/json" }).end(refusal);
  return answer(result);
});

let models: Awaited<ReturnType<typeof startRecorded>>;
let api: Api;
let admin: Account;
let modelId: string;
let url = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  models = await startRecorded();
  api = await openApi(sqlite);
  admin = await api.signUp("Admin");
  const json = { name: "Modelo", provider: "openai-compatible", externalId: "x", baseUrl: `${models.url}/v1` };
  modelId = ((await api.call("POST", "/api/model", { token: admin.token, json })).body as { id: string }).id;
});
afterAll(async () => {
  await api.close();
  await models.stop();
  server.closeAllConnections();
  server.close();
});

const one = '{"name":"leer","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}';

async function makeTool(name = "Raro"): Promise<{ tools: { name: string }[]; problem: string | null }> {
  for (const { id } of await api.db.selectFrom("tools").where("kind", "=", "mcp").select("id").execute()) {
    await api.db.deleteFrom("tools").where("id", "=", id).execute();
  }
  const json = { name, kind: "mcp", address: url };
  return (await api.call("POST", "/api/tool", { token: admin.token, json })).body;
}

const stream = (...chunks: object[]) => ({
  status: 200,
  type: "text/event-stream",
  pieces: [`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`],
});
const delta = (said: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta: said, finish_reason }],
});
const calls = (args: string) =>
  stream(
    delta({ tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "raro_leer", arguments: args } }] }),
    delta({}, "tool_calls"),
  );
const answers = stream(delta({ content: "Hecho." }), delta({}, "stop"));

/** Words that the model was told of a call with this input. */
async function toldOf(args = "{}"): Promise<string> {
  models.answer(calls(args), answers);
  called.length = 0;
  const chunks = await api.converse(admin.token, { content: "Lee", modelId });
  expect(textOf(chunks)).toContain("Hecho.");
  const { messages } = JSON.parse(models.asked[1]?.body ?? "{}") as { messages: { role: string; content: string }[] };
  return messages.findLast(({ role }) => role === "tool")?.content ?? "";
}

describe("one odd item costs itself alone", () => {
  it("among the tools of a server", async () => {
    const odd = [
      '{"name":"vacia","inputSchema":{}}',
      '{"name":"nula","inputSchema":null}',
      '{"name":7}',
      "null",
      '{"inputSchema":{"type":"object"}}',
    ];
    const titled =
      '{"name":"rara","title":9,"description":null,"inputSchema":{"type":"object"},"outputSchema":{"type":"array"},"annotations":{"readOnlyHint":"yes"}}';
    listed = `{"tools":[${[one, ...odd, titled].join(",")}],"nextCursor":null}`;
    const { tools, problem } = await makeTool();
    expect(problem).toBeNull();
    expect(tools.map(({ name }) => name)).toEqual(["leer", "vacia", "nula", "rara"]);
  });

  it.each([
    [
      "an unknown block",
      '{"content":[{"type":"hologram","data":"x"},{"type":"text","text":"Hola"}]}',
      ["Hola", "«hologram»"],
    ],
    ["a null", '{"content":[null,{"type":"text","text":"Hola"}]}', ["Hola"]],
    ["a text without a block", '{"content":"Hola"}', ["Hola"]],
    ["a block without a list", '{"content":{"type":"text","text":"Hola"}}', ["Hola"]],
    ["a resource without its address", '{"content":[{"type":"resource","resource":{"text":"Hola"}}]}', ["Hola"]],
    ["a number for a text", '{"content":[{"type":"text","text":12},{"type":"text","text":"Hola"}]}', ["Hola", "12"]],
    ["a structure that is a list", '{"content":[],"structuredContent":[1,2]}', ["[1,2]"]],
    [
      "a long number in a structure",
      '{"content":[],"structuredContent":{"id":1234567890123456789}}',
      ["1234567890123456789"],
    ],
  ])("in a result: %s", async (_what, said, told) => {
    listed = `{"tools":[${one}]}`;
    await makeTool();
    result = `"result":${said}`;
    const heard = await toldOf();
    for (const text of told) expect(heard).toContain(text);
    expect(heard).toMatch(/^\[Datos/);
  });
});

describe("what a server of tools says is wrong reaches model and person", () => {
  it.each([
    ["an error of JSON-RPC", 200, '"error":{"code":-32602,"message":"La ciudad no existe"}', "La ciudad no existe"],
    ["a 403", 403, '{"error":{"message":"Solo para la sede de Soria"}}', "Solo para la sede de Soria"],
    ["a 400", 400, '{"message":"Falta la fecha"}', "Falta la fecha"],
    ["a 500", 500, '{"detail":"La base de datos no contesta"}', "La base de datos no contesta"],
  ])("%s", async (_what, code, said, told) => {
    listed = `{"tools":[${one}]}`;
    await makeTool();
    [status, refusal, result] = [code, said, said];
    try {
      expect(await toldOf()).toContain(told);
    } finally {
      status = 200;
    }
  });
});

it("a number of 19 digits reaches the tool unchanged", async () => {
  listed = `{"tools":[${one}]}`;
  await makeTool();
  result = '"result":{"content":[{"type":"text","text":"Hola"}]}';
  await toldOf('{"id":1234567890123456789,"precio":0.1,"n":12}');
  expect(called[0]).toContain('"arguments":{"id":1234567890123456789,"precio":0.1,"n":12}');
});

it("a number of 19 digits stays exact through an approval", async () => {
  listed = '{"tools":[{"name":"leer","inputSchema":{"type":"object","properties":{"id":{"type":"integer"}}}}]}';
  await makeTool();
  result = '"result":{"content":[{"type":"text","text":"Hola"}]}';
  const decided = async (change: (fields: SchemaField[], input: Record<string, unknown>) => object) => {
    models.answer(calls('{"id":1234567890123456789}'), answers);
    called.length = 0;
    const [start] = await api.converse(admin.token, { content: "Lee", modelId });
    if (start?.type !== "start") throw new Error("no start");
    const path = `/api/message/${start.messageId}`;
    const { parts } = (await api.call("GET", path, { token: admin.token })).body as {
      parts: { n: number; kind: string; input: string; asks: { hash: string; schema: object } }[];
    };
    const part = parts.find(({ kind }) => kind === "tool");
    if (!part) throw new Error("no call");
    const input = objectOf(part.input) ?? {};
    const whole = JSON.stringify(change(fieldsOf(part.asks.schema, input), input));
    const json = { n: part.n, hash: part.asks.hash, decision: "once", input: whole };
    expect((await api.call("POST", `${path}/decision`, { token: admin.token, json })).status).toBe(200);
    await expect.poll(() => called[0]).toContain('"name":"leer"');
    const status = async () =>
      ((await api.call("GET", path, { token: admin.token })).body as { status: string }).status;
    await expect.poll(status, { timeout: 60_000 }).toBe("complete");
    return called[0];
  };
  const asShown = await decided((fields, input) => {
    expect(fields).toMatchObject([{ name: "id", kind: "number", value: "1234567890123456789" }]);
    return inputFrom(fields, input, () => "1234567890123456789").input;
  });
  expect(asShown).toContain('"id":1234567890123456789}');
  const changed = await decided((fields, input) => inputFrom(fields, input, () => "9876543210987654321").input);
  expect(changed).toContain('"id":9876543210987654321}');
});

it("the first message waits for a server never listed before", async () => {
  listed = `{"tools":[${one}]}`;
  await makeTool();
  await api.db.updateTable("tools").set({ listed: "[]", listedAt: null }).where("kind", "=", "mcp").execute();
  expect(await toldOf()).toContain("Hola");
});

it("a message says which server it went out without", async () => {
  listed = `{"tools":[${one}]}`;
  await makeTool();
  await api.db.updateTable("tools").set({ listed: "[]", listedAt: null }).where("kind", "=", "mcp").execute();
  const held = Promise.withResolvers<void>();
  delay = held.promise;
  models.answer(answers);
  const chunks = await api.converse(admin.token, { content: "Lee", modelId });
  held.resolve();
  delay = undefined;
  expect(chunks.find(({ type }) => type === "end")).toMatchObject({
    status: "complete",
    error: expect.stringContaining("sin las herramientas de «Raro»"),
  });
});

describe("a schema that a provider would refuse", () => {
  it.each([
    [{}, { type: "object", properties: {} }],
    [{ type: "object" }, { type: "object", properties: {} }],
    [
      { type: "object", properties: null, required: null },
      { type: "object", properties: {} },
    ],
    [
      {
        anyOf: [
          { properties: { a: { type: "string" } }, required: ["a"] },
          { properties: { b: {} }, required: ["b"] },
        ],
      },
      { type: "object", properties: { a: { type: "string" }, b: {} } },
    ],
    [
      {
        allOf: [
          { properties: { a: {} }, required: ["a"] },
          { properties: { b: {} }, required: ["b"] },
        ],
      },
      { type: "object", properties: { a: {}, b: {} }, required: ["a", "b"] },
    ],
    [
      { $ref: "#/$defs/Datos", $defs: { Datos: { type: "object", properties: { a: {} } } } },
      { type: "object", properties: { a: {} }, $defs: { Datos: { type: "object", properties: { a: {} } } } },
    ],
    [
      { $ref: "#/$defs/A", $defs: { A: { $ref: "#/$defs/B" }, B: { type: "object", properties: { b: {} } } } },
      {
        ...{ type: "object", properties: { b: {} } },
        $defs: { A: { $ref: "#/$defs/B" }, B: { type: "object", properties: { b: {} } } },
      },
    ],
    [
      { $ref: "#/$defs/A", $defs: { A: { $ref: "#/$defs/A" } } },
      { type: "object", properties: {}, $defs: { A: { $ref: "#/$defs/A" } } },
    ],
    [
      {
        $schema: "http://json-schema.org/draft-07/schema#",
        type: "object",
        properties: { a: { anyOf: [{}, {}] } },
        required: ["a", "no", 7],
      },
      { type: "object", properties: { a: { anyOf: [{}, {}] } }, required: ["a"] },
    ],
  ])("%j", (given, made) => {
    expect(schemaForModels(given)).toEqual(made);
  });

  it("is left out once a provider refuses it, others stay", async () => {
    const two = '{"name":"mala","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}';
    listed = `{"tools":[${one},${two}]}`;
    await makeTool("Otro");
    const message = "Invalid schema for function 'otro_mala': In context=('properties'), 'x' is not valid.";
    const type = "application/json";
    models.answer(
      { status: 400, type, pieces: [JSON.stringify({ error: { message, param: "tools[1].function.parameters" } })] },
      answers,
    );
    const chunks = await api.converse(admin.token, { content: "Lee", modelId });
    expect(textOf(chunks)).toBe("Hecho.");
    const namesIn = (body = "{}") =>
      (JSON.parse(body) as { tools: { function: { name: string } }[] }).tools.map(({ function: { name } }) => name);
    expect(namesIn(models.asked[0]?.body)).toContain("otro_mala");
    expect(namesIn(models.asked[1]?.body)).toContain("otro_leer");
    expect(namesIn(models.asked[1]?.body)).not.toContain("otro_mala");
  });
});
