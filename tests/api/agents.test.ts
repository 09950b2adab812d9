import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type Program, send, startProgram, startUpstream } from "../support/doors.ts";
import { startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
let program: Program;
beforeAll(async () => {
  server = await startServer({ CORS_ORIGINS: "app://obsidian.md" });
  program = await startProgram(server.url);
});
afterAll(() => server.stop());

type Upstream = Awaited<ReturnType<typeof startUpstream>>;

const post = (path: string, json: object) => send(server.url, path, json, program.key);

/** A model of a server that sends these deltas, or those for a request, and the reason for the end. */
async function modelSending(
  deltas: object[] | ((asked: Record<string, unknown>) => object[]),
  reason = "stop",
  more: object = {},
): Promise<{ model: string; upstream: Upstream }> {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: "1", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  const upstream = await startUpstream((asked) => {
    const sent = typeof deltas === "function" ? deltas(asked) : deltas;
    return { body: `${sent.map((delta) => chunk(delta)).join("")}${chunk({}, reason)}data: [DONE]\n\n` };
  });
  onTestFinished(() => void upstream.stop());
  const model = crypto.randomUUID();
  const json = { name: model, externalId: model, provider: "openai-compatible", baseUrl: `${upstream.url}/v1` };
  const made = await send(server.url, "/api/model", { ...json, usesTools: true, ...more }, program.session);
  expect(made.status).toBe(201);
  return { model, upstream };
}

const hello = [{ role: "user", content: "Hola" }];

describe("an end without a word", () => {
  it.each([
    ["of a limit", [{ reasoning_content: "Pienso" }], "length", "max_tokens", "incomplete"],
    ["after a tool", [], "stop", "end_turn", "completed"],
  ])("%s is an answer in each format", async (_name, deltas, reason, stop_reason, status) => {
    const { model, upstream } = await modelSending(deltas, reason);
    const completion = await post("/chat/completions", { model, messages: hello, max_tokens: 5 });
    expect(await completion.json()).toMatchObject({
      choices: [{ message: { content: "" }, finish_reason: reason }],
    });
    const message = await post("/messages", { model, messages: hello, max_tokens: 5 });
    expect(await message.json()).toMatchObject({ stop_reason });
    const response = await post("/responses", { model, input: "Hola", store: false });
    expect(await response.json()).toMatchObject({ status });
    expect(upstream.asked).toHaveLength(3);
  });
});

describe("a refusal in words", () => {
  const words = "No puedo ayudar con eso.";
  const refusing = () => modelSending([{ refusal: "No puedo " }, { refusal: "ayudar con eso." }]);

  it("has its own field in completions, which readers of a structure look for", async () => {
    const { model } = await refusing();
    const whole = await post("/chat/completions", { model, messages: hello });
    expect(await whole.json()).toMatchObject({
      choices: [{ message: { content: null, refusal: words }, finish_reason: "stop" }],
    });
    const streamed = await (await post("/chat/completions", { model, messages: hello, stream: true })).text();
    const refused = [...streamed.matchAll(/"delta":\{"refusal":"([^"]*)"\}/g)].map(([, piece]) => piece);
    expect(refused.join("")).toBe(words);
    expect(streamed).toContain('"finish_reason":"stop"');
  });

  it("is a part of its own in Responses, and goes back to the model", async () => {
    const { model, upstream } = await refusing();
    const first = await post("/responses", { model, input: "Hola" });
    const { id, ...rest } = (await first.json()) as { id: string };
    expect(rest).toMatchObject({ status: "completed", output: [{ content: [{ type: "refusal", refusal: words }] }] });
    await post("/responses", { model, input: "¿Por qué?", previous_response_id: id });
    expect(upstream.asked.at(-1)?.messages).toContainEqual({ role: "assistant", content: words });
    const streamed = await (await post("/responses", { model, input: "Hola", stream: true, store: false })).text();
    expect(streamed).toContain("event: response.refusal.delta");
    expect(streamed).toContain("event: response.refusal.done");
    expect(streamed).toContain("event: response.completed");
  });

  it("is a reason for the end in Messages", async () => {
    const { model } = await refusing();
    const message = await post("/messages", { model, max_tokens: 9, messages: hello });
    expect(await message.json()).toMatchObject({ stop_reason: "refusal", content: [{ type: "text", text: words }] });
  });
});

describe("thoughts before a text and a call", () => {
  // As DeepSeek and Kimi do.
  const deltas = ({ messages }: Record<string, unknown>) =>
    JSON.stringify(messages).includes('"tool"')
      ? [{ content: "Listo" }]
      : [
          { reasoning_content: "PENSADO" },
          { content: "Voy a mirar." },
          { tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "mirar", arguments: "{}" } }] },
        ];

  it("go back from Messages", async () => {
    const { model, upstream } = await modelSending(deltas);
    const tools = [{ name: "mirar", input_schema: { type: "object", properties: {} } }];
    const first = await post("/messages", { model, max_tokens: 99, tools, messages: hello });
    const { content } = (await first.json()) as { content: { type: string; id?: string }[] };
    expect(content.map(({ type }) => type)).toEqual(["thinking", "text", "tool_use"]);
    const result = { type: "tool_result", tool_use_id: "c1", content: "vale" };
    const messages = [...hello, { role: "assistant", content }, { role: "user", content: [result] }];
    expect((await post("/messages", { model, max_tokens: 99, tools, messages })).status).toBe(200);
    const said = upstream.asked.at(-1)?.messages as object[];
    expect(said).toContainEqual(expect.objectContaining({ role: "assistant", reasoning_content: "PENSADO" }));
  });

  it("go back from Responses", async () => {
    const { model, upstream } = await modelSending(deltas);
    const tools = [{ type: "function", name: "mirar", parameters: { type: "object", properties: {} } }];
    const first = (await (await post("/responses", { model, input: "Hola", tools })).json()) as { id: string };
    const input = [{ type: "function_call_output", call_id: "c1", output: "vale" }];
    const second = await post("/responses", { model, tools, input, previous_response_id: first.id });
    expect(second.status).toBe(200);
    const said = upstream.asked.at(-1)?.messages as object[];
    expect(said).toContainEqual(expect.objectContaining({ role: "assistant", reasoning_content: "PENSADO" }));
  });
});

it.each(["/messages", "/responses"])("%s closes a text that turns out to be a thought", async (path) => {
  const { model } = await modelSending([
    { content: "pienso mucho" },
    { content: "\n</think>\n\n" },
    { content: "hola" },
  ]);
  const json = { model, stream: true, max_tokens: 99, messages: hello };
  const answer = await post(path, path === "/messages" ? json : { model, stream: true, store: false, input: "Hola" });
  const events = [...(await answer.text()).matchAll(/^data: (\{.*\})$/gm)].map(
    ([, data = ""]) => JSON.parse(data) as { type: string; index?: number; output_index?: number },
  );
  const of = (type: string) =>
    events.filter((one) => one.type === type).map(({ index, output_index }) => index ?? output_index);
  const [begins, ends] =
    path === "/messages"
      ? ["content_block_start", "content_block_stop"]
      : ["response.output_item.added", "response.output_item.done"];
  expect(of(begins ?? "")).toEqual([0, 1]);
  expect(of(ends ?? "")).toEqual([0, 1]);
});

it("asks for a strict schema only where the program does", async () => {
  const { model, upstream } = await modelSending([{ content: "{}" }]);
  const schema = { type: "object", properties: { a: { type: "string" } } };
  const strictness = async (path: string, json: object) => {
    await post(path, { model, ...json });
    const { response_format } = upstream.asked.at(-1) as { response_format?: { json_schema?: { strict?: boolean } } };
    return response_format?.json_schema?.strict;
  };
  const completion = (more: object) => ({
    messages: hello,
    response_format: { type: "json_schema", json_schema: { name: "x", description: null, schema, ...more } },
  });
  expect(await strictness("/chat/completions", completion({}))).toBe(false);
  expect(await strictness("/chat/completions", completion({ strict: true }))).toBe(true);
  const text = { format: { type: "json_schema", name: "x", schema, strict: true } };
  expect(await strictness("/responses", { input: "Hola", store: false, text })).toBe(true);
  expect(await strictness("/ollama/api/chat", { messages: hello, stream: false, format: schema })).toBe(false);
});

it("tells of a model by a name with a slash, escaped or not", async () => {
  const { upstream } = await modelSending([{ content: "Vale." }]);
  const id = `casa/${crypto.randomUUID()}`;
  const json = { name: id, externalId: id, provider: "openai-compatible", baseUrl: `${upstream.url}/v1` };
  await send(server.url, "/api/model", json, program.session);
  for (const path of [id, encodeURIComponent(id)]) {
    const answer = await fetch(`${server.url}/v1/models/${path}`, {
      headers: { Authorization: `Bearer ${program.key}` },
    });
    expect(await answer.json()).toMatchObject({ id, object: "model" });
  }
  const missing = await fetch(`${server.url}/v1/models/casa/otro`, {
    headers: { Authorization: `Bearer ${program.key}` },
  });
  expect(missing.status).toBe(404);
});

it("cuts the name of a tool that is too long for its server, and gives it back whole", async () => {
  const name = `mcp__un_servidor_de_nombre_largo__${"leer_".repeat(10)}`;
  const sent = (asked: Record<string, unknown>) => (asked.tools as { function: { name: string } }[])[0]?.function.name;
  const { model, upstream } = await modelSending((asked) => [
    { tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: sent(asked), arguments: "{}" } }] },
  ]);
  const tools = [{ name, input_schema: { type: "object", properties: {} } }];
  const call = { type: "tool_use", id: "c0", name, input: {} };
  const messages = [
    ...hello,
    { role: "assistant", content: [call] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c0", content: "vale" }] },
  ];
  const tool_choice = { type: "tool", name };
  const answer = await post("/messages", { model, max_tokens: 99, tools, tool_choice, messages });
  expect(await answer.json()).toMatchObject({ content: [{ type: "tool_use", name }] });
  const [asked] = upstream.asked;
  const short = sent(asked ?? {});
  expect(short?.length).toBe(64);
  expect(asked).toMatchObject({ tool_choice: { type: "function", function: { name: short } } });
  expect(JSON.stringify(asked?.messages)).toContain(`"name":"${short}"`);
});

it("gives a model without eyes a note in place of what its tools have found", async () => {
  const { model, upstream } = await modelSending([{ content: "Vale." }], "stop", { acceptsImages: false });
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } };
  const tools = [{ name: `mcp__${"a".repeat(100)}`, input_schema: { type: "object", properties: {} } }];
  const name = tools[0]?.name;
  const messages = [
    ...hello,
    { role: "assistant", content: [{ type: "tool_use", id: "c1", name, input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: [image] }] },
  ];
  expect((await post("/messages", { model, max_tokens: 9, tools, messages })).status).toBe(200);
  expect(JSON.stringify(upstream.asked.at(-1)?.messages)).toContain("[Una imagen, que este modelo no ve.]");
  const shown = [{ role: "user", content: [image] }];
  const refused = await post("/messages", { model, max_tokens: 9, messages: shown });
  expect(await refused.text()).toContain("Este modelo no ve imágenes.");
});

it.each(["/chat/completions", "/messages"])("%s tells of a cut without promising to keep anything", async (path) => {
  const upstream = await startUpstream(() => ({
    body: 'data: {"id":"1","choices":[{"index":0,"delta":{"content":"A medias"},"finish_reason":null}]}\n\n',
  }));
  onTestFinished(() => void upstream.stop());
  const model = crypto.randomUUID();
  const json = { name: model, externalId: model, provider: "openai-compatible", baseUrl: `${upstream.url}/v1` };
  expect((await send(server.url, "/api/model", json, program.session)).status).toBe(201);
  const told = await (await post(path, { model, messages: hello, max_tokens: 9 })).text();
  expect(told).toContain("La respuesta del modelo se cortó antes de terminar.");
  expect(told).not.toContain("guardado");
});

it("sends calls without an input as an empty object", async () => {
  const call = { index: 0, id: "c1", type: "function", function: { name: "mirar", arguments: "" } };
  const { model } = await modelSending([{ tool_calls: [call] }], "tool_calls");
  const tools = [{ type: "function", function: { name: "mirar", parameters: { type: "object" } } }];
  const whole = await post("/chat/completions", { model, messages: hello, tools });
  expect(await whole.json()).toMatchObject({
    choices: [{ message: { tool_calls: [{ function: { name: "mirar", arguments: "{}" } }] } }],
  });
  const stream = await (await post("/chat/completions", { model, messages: hello, tools, stream: true })).text();
  const written = [...stream.matchAll(/"arguments":"([^"]*)"/g)].map(([, piece]) => piece).join("");
  expect(written).toBe("{}");
});

it("tells the usage of a kept response in full", async () => {
  const { model } = await modelSending([{ content: "Vale." }]);
  const made = (await (await post("/responses", { model, input: "Hola" })).json()) as { id: string; usage: object };
  const kept = await fetch(`${server.url}/v1/responses/${made.id}`, {
    headers: { Authorization: `Bearer ${program.key}` },
  });
  expect(((await kept.json()) as { usage: object }).usage).toEqual(made.usage);
});

it("lets in a program of the desktop by its own scheme", async () => {
  const headers = { Origin: "app://obsidian.md", "Access-Control-Request-Method": "POST" };
  const asked = await fetch(`${server.url}/v1/chat/completions`, { method: "OPTIONS", headers });
  expect(asked.headers.get("Access-Control-Allow-Origin")).toBe("app://obsidian.md");
});

it("keeps instructions in the middle of a conversation in their place, behind results of tools", async () => {
  const { model, upstream } = await modelSending([{ content: "Vale." }]);
  const call = { id: "c1", type: "function", function: { name: "mirar", arguments: "{}" } };
  const messages = [
    { role: "system", content: "Al principio." },
    ...hello,
    { role: "assistant", content: "Voy.", tool_calls: [call] },
    { role: "system", content: "A partir de ahora, breve." },
    { role: "tool", tool_call_id: "c1", content: "doce grados" },
    { role: "developer", content: "Sin listas." },
    { role: "user", content: "¿Y bien?" },
  ];
  const tools = [{ type: "function", function: { name: "mirar", parameters: { type: "object", properties: {} } } }];
  expect((await post("/chat/completions", { model, messages, tools })).status).toBe(200);
  const said = upstream.asked.at(-1)?.messages as { role: string; content: string }[];
  expect(said.map(({ role }) => role)).toEqual(["system", "user", "assistant", "tool", "user"]);
  expect(said[0]?.content).not.toContain("breve");
  expect(said.at(-1)?.content).toMatch(/A partir de ahora, breve\.[\s\S]*Sin listas\.[\s\S]*¿Y bien\?$/);
  // Without tools, the results are words, and still say where they come from.
  await post("/chat/completions", { model, messages });
  expect(JSON.stringify(upstream.asked.at(-1)?.messages)).toContain("Resultado de la herramienta «mirar»");
});

it("lets Anthropic's tool runner go on without a thread, and names its requests", async () => {
  const { model } = await modelSending([{ content: "Vale." }]);
  const answer = await post("/messages", { model, max_tokens: 9, messages: hello, thread: { type: "create" } });
  const body = (await answer.json()) as { request_id?: string };
  expect(body).toMatchObject({
    type: "error",
    error: {
      message: expect.stringContaining("«thread»"),
      details: { error_code: "thread_unsupported_request", unsupported: ["thread"] },
    },
  });
  expect(answer.headers.get("Request-Id")).toBe(body.request_id);
  const absent = await post("/messages/batches", {});
  expect(await absent.json()).toMatchObject({ type: "error", error: { type: "not_found_error" } });
});

it("tells programs not to try again where the plan is used up", async () => {
  const { model } = await modelSending([{ content: "Vale." }]);
  const { key, session } = await startProgram(server.url, "Berta");
  const about = await fetch(`${server.url}/v1/auth/session`, { headers: { Authorization: `Bearer ${session}` } });
  const { user } = (await about.json()) as { user: { id: string } };
  const plan = { userId: user.id, plan: "gratis", startsAt: new Date().toISOString(), messagesPerDay: 1 };
  expect((await send(server.url, "/api/subscription", plan, program.session)).status).toBe(201);
  const ask = () => send(server.url, "/messages", { model, max_tokens: 9, messages: hello }, key);
  expect((await ask()).status).toBe(200);
  const refused = await ask();
  expect([refused.status, refused.headers.get("X-Should-Retry")]).toEqual([429, "false"]);
});

it("says that a prompt is too long, a key wrong and an image elsewhere in words that clients look for", async () => {
  const upstream = await startUpstream(() => ({
    status: 400,
    body: JSON.stringify({
      error: { code: "context_length_exceeded", message: "maximum context length is 10 tokens" },
    }),
  }));
  onTestFinished(() => void upstream.stop());
  const model = crypto.randomUUID();
  const json = { name: model, externalId: model, provider: "openai-compatible", baseUrl: `${upstream.url}/v1` };
  await send(server.url, "/api/model", json, program.session);
  const long = await post("/chat/completions", { model, messages: hello });
  expect(await long.json()).toMatchObject({
    error: { code: "context_length_exceeded", message: expect.stringContaining("(context_length_exceeded)") },
  });
  const wrong = await send(server.url, "/chat/completions", { model, messages: hello }, "ter_nada");
  expect(await wrong.json()).toMatchObject({ error: { code: "invalid_api_key" } });
  const image = { type: "input_image", image_url: "https://example.com/a.png" };
  const elsewhere = await post("/responses", { model, input: [{ role: "user", content: [image] }] });
  expect(await elsewhere.json()).toMatchObject({ error: { message: expect.stringContaining("se envían dentro") } });
});

describe("Ollama's clients", () => {
  it("read the sentence of an error, and of a server that has nothing in memory", async () => {
    const missing = await post("/ollama/api/chat", { model: "nada", messages: hello });
    expect(missing.headers.get("Content-Type")).toBe("application/json");
    expect(await missing.json()).toMatchObject({ error: "El modelo «nada» no existe aquí." });
    const headers = { Authorization: `Bearer ${program.key}` };
    const running = await fetch(`${server.url}/v1/ollama/api/ps`, { headers });
    expect(await running.json()).toEqual({ models: [] });
  });

  it("get thoughts back with a call whose id they replace", async () => {
    const { model, upstream } = await modelSending(({ messages }) =>
      JSON.stringify(messages).includes('"tool"')
        ? [{ content: "Listo" }]
        : [
            { reasoning_content: "PENSADO" },
            { tool_calls: [{ index: 0, id: "c1", type: "function", function: { name: "mirar", arguments: "{}" } }] },
          ],
    );
    const tools = [{ type: "function", function: { name: "mirar", parameters: { type: "object", properties: {} } } }];
    const options = { use_mlock: true };
    await post("/ollama/api/chat", { model, messages: hello, tools, stream: false, options });
    const call = { function: { name: "mirar", arguments: {} } };
    const messages = [
      ...hello,
      { role: "assistant", content: "", tool_calls: [call] },
      { role: "tool", content: "vale" },
    ];
    await post("/ollama/api/chat", { model, messages, tools, stream: false });
    const said = upstream.asked.at(-1)?.messages as object[];
    expect(said).toContainEqual(expect.objectContaining({ role: "assistant", reasoning_content: "PENSADO" }));
  });
});

it("keeps all that was counted of a response, and echoes its metadata", async () => {
  const upstream = await startUpstream(() => ({
    body: `data: ${JSON.stringify({
      id: "1",
      choices: [{ index: 0, delta: { content: "Vale." }, finish_reason: "stop" }],
      usage: {
        prompt_tokens: 9,
        completion_tokens: 5,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 3 },
      },
    })}\n\ndata: [DONE]\n\n`,
  }));
  onTestFinished(() => void upstream.stop());
  const model = crypto.randomUUID();
  const json = { name: `N ${model}`, externalId: model, provider: "openai-compatible", baseUrl: `${upstream.url}/v1` };
  await send(server.url, "/api/model", json, program.session);
  const made = await (await post("/responses", { model, input: "Hola", metadata: { a: "b" } })).json();
  const { id, usage, metadata } = made as { id: string; usage: object; metadata: object };
  expect(metadata).toEqual({ a: "b" });
  expect(usage).toMatchObject({
    input_tokens_details: { cached_tokens: 4 },
    output_tokens_details: { reasoning_tokens: 3 },
  });
  const headers = { Authorization: `Bearer ${program.key}` };
  const kept = await fetch(`${server.url}/v1/responses/${id}`, { headers });
  expect(await kept.json()).toMatchObject({ id, model, usage });
});
