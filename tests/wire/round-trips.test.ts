import { crc32 } from "node:zlib";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, type Api, openApi, textOf } from "../support/api.ts";
import { sqlite } from "../support/engines.ts";
import { startRecorded } from "./recorded.ts";

let server: Awaited<ReturnType<typeof startRecorded>>;
let api: Api;
let admin: Account;
beforeAll(async () => {
  server = await startRecorded();
  api = await openApi(sqlite);
  admin = await api.signUp("Admin");
});
afterAll(async () => {
  await api.close();
  await server.stop();
});

const events = (...chunks: object[]) => ({
  status: 200,
  type: "text/event-stream",
  pieces: [`${chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")}data: [DONE]\n\n`],
});
const chunk = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
});
const call = (more: object = {}) => ({
  index: 0,
  id: "c1",
  type: "function",
  function: { name: "calcular", arguments: '{"cuenta":"6*7"}' },
  ...more,
});
const answer = events(chunk({ content: "Son 42." }), chunk({}, "stop"));

async function makeModel(more: object = {}): Promise<string> {
  const json = { name: crypto.randomUUID(), provider: "openai-compatible", externalId: "x", apiKey: "clave", ...more };
  const made = await api.call("POST", "/api/model", {
    token: admin.token,
    json: { baseUrl: `${server.url}/v1`, ...json },
  });
  return (made.body as { id: string }).id;
}

const messagesOf = (body = "{}") =>
  (JSON.parse(body) as { messages: Record<string, unknown>[] }).messages.filter(({ role }) => role === "assistant");

describe("what a compatible server wants back with the results of its calls", () => {
  it.each([
    [
      "DeepSeek",
      [{ reasoning_content: "Hay que " }, { reasoning_content: "contar." }],
      { reasoning_content: "Hay que contar." },
    ],
    ["Groq", [{ reasoning: "Hay que contar." }], { reasoning: "Hay que contar." }],
    [
      "OpenRouter",
      [
        { reasoning: "Hay que ", reasoning_details: [{ type: "reasoning.text", text: "Hay que ", index: 0 }] },
        { reasoning: "contar.", reasoning_details: [{ type: "reasoning.text", text: "contar.", index: 0 }] },
        { reasoning_details: [{ type: "reasoning.text", signature: "FIRMA", index: 0 }] },
        { reasoning_details: [{ type: "reasoning.encrypted", data: "CIFRADO", index: 1 }] },
      ],
      {
        reasoning_details: [
          { type: "reasoning.text", text: "Hay que contar.", signature: "FIRMA", index: 0 },
          { type: "reasoning.encrypted", data: "CIFRADO", index: 1 },
        ],
      },
    ],
    [
      "LiteLLM",
      [
        { thinking_blocks: [{ type: "thinking", thinking: "Hay que ", signature: null }] },
        { thinking_blocks: [{ type: "thinking", thinking: "contar.", signature: "FIRMA" }] },
      ],
      { thinking_blocks: [{ type: "thinking", thinking: "Hay que contar.", signature: "FIRMA" }] },
    ],
  ])("of %s", async (_server, thoughts, back) => {
    server.answer(
      events(...thoughts.map((thought) => chunk(thought)), chunk({ tool_calls: [call()] }), chunk({}, "tool_calls")),
      answer,
    );
    const chunks = await api.converse(admin.token, { content: "¿6×7?", modelId: await makeModel() });
    expect(textOf(chunks)).toBe("Son 42.");
    expect(messagesOf(server.asked[1]?.body)).toMatchObject([{ ...back, tool_calls: [{ id: "c1" }] }]);
  });

  it("of Gemini's compatible door: a signature with the call", async () => {
    const extra_content = { google: { thought_signature: "FIRMA" } };
    server.answer(events(chunk({ tool_calls: [call({ extra_content })] }), chunk({}, "tool_calls")), answer);
    await api.converse(admin.token, { content: "¿6×7?", modelId: await makeModel() });
    expect(messagesOf(server.asked[1]?.body)).toMatchObject([{ tool_calls: [{ id: "c1", extra_content }] }]);
  });

  it("goes to the same model alone", async () => {
    const interrupted = {
      status: 200,
      type: "text/event-stream",
      pieces: ['data: {"choices":[{"delta":{"content":"Y"}}]}\n\n'],
    };
    server.answer(
      events(chunk({ reasoning_content: "Cuento." }), chunk({ tool_calls: [call()] }), chunk({}, "tool_calls")),
      interrupted,
    );
    const chunks = await api.converse(admin.token, { content: "¿6×7?", modelId: await makeModel() });
    const [start] = chunks;
    if (start?.type !== "start") throw new Error("no start");
    server.answer(answer);
    await api.converse(admin.token, { parentId: start.messageId, modelId: await makeModel() });
    expect(messagesOf(server.asked[0]?.body)[0]).toMatchObject({ tool_calls: [{ id: "c1" }] });
    expect(messagesOf(server.asked[0]?.body)[0]).not.toHaveProperty("reasoning_content");
  });

  it("is left out where it did not come", async () => {
    server.answer(
      events(chunk({ content: "<think>Cuento.</think>" }), chunk({ tool_calls: [call()] }), chunk({}, "tool_calls")),
      answer,
    );
    await api.converse(admin.token, { content: "¿6×7?", modelId: await makeModel() });
    const [turn] = messagesOf(server.asked[1]?.body);
    expect(Object.keys(turn ?? {}).sort()).toEqual(["content", "role", "tool_calls"]);
  });
});

describe("an image that a chat model makes", () => {
  // 8 × 6 pixels.
  const png =
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAGCAIAAABxZ0isAAAACXBIWXMAAAPoAAAD6AG1e1JrAAAAEUlEQVQImWNQSluFFTEMpAQAtyY5YUeDlrAAAAAASUVORK5CYII=";
  const drawn = (data: string, content = "") =>
    events(
      chunk({ content, images: [{ type: "image_url", image_url: { url: `data:image/png;base64,${data}` } }] }),
      // OpenRouter's servers send it again with the last piece.
      chunk({ images: [{ type: "image_url", image_url: { url: `data:image/png;base64,${data}` } }] }, "stop"),
    );

  const madeByModel = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia";
  const bytesOf = async (image: { fileId: string } | undefined, variant: string) => {
    const answer = await api.fetch(`/api/file/${image?.fileId}/content?variant=${variant}`, admin.token);
    return Buffer.from(await answer.arrayBuffer());
  };
  const xmpOf = async (image: { fileId: string } | undefined, variant: string) =>
    String((await sharp(await bytesOf(image, variant)).metadata()).xmp);

  it("is stored as a file, and the conversation goes on", async () => {
    server.answer(drawn(png));
    const modelId = await makeModel({ usesTools: false });
    const chunks = await api.converse(admin.token, { content: "Dibuja el mar", modelId });
    const images = chunks.filter((one) => one.type === "image");
    expect(images).toMatchObject([{ width: 8, height: 6 }]);
    expect(chunks.at(-1)).toMatchObject({ type: "end", status: "complete" });
    const file = await api.call("GET", `/api/file/${images[0]?.fileId}`, { token: admin.token });
    expect(file.body).toMatchObject({ mediaType: "image/png" });
    for (const variant of ["original", "image", "preview"])
      expect(await xmpOf(images[0], variant), variant).toContain(madeByModel);
    server.answer(answer);
    const [start] = chunks;
    if (start?.type !== "start") throw new Error("no start");
    const next = await api.converse(admin.token, { chatId: start.chatId, content: "¿Qué has dibujado?", modelId });
    expect(textOf(next)).toBe("Son 42.");
    expect(messagesOf(server.asked[0]?.body)).toEqual([]);
  });

  it("keeps its C2PA credentials, and its copies an AI mark", async () => {
    // A manifest of C2PA in a PNG, as the specification has it: a chunk «caBX» (c2pa.org/specifications, «Embedding manifests»).
    const manifest = Buffer.from(`caBXjumbc2pa${madeByModel}`);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(manifest.length - 4);
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc32(manifest));
    const plain = Buffer.from(png, "base64");
    const end = plain.length - 12;
    const signed = Buffer.concat([plain.subarray(0, end), length, manifest, sum, plain.subarray(end)]);
    server.answer(drawn(signed.toString("base64")));
    const chunks = await api.converse(admin.token, { content: "Dibuja el mar", modelId: await makeModel() });
    const image = chunks.find((one) => one.type === "image");
    expect((await bytesOf(image, "original")).equals(signed)).toBe(true);
    expect(await xmpOf(image, "image")).toContain(madeByModel);
    const file = await api.call("GET", `/api/file/${image?.fileId}`, { token: admin.token });
    expect(file.body).toMatchObject({ name: "imagen con credenciales C2PA.png" });
  });

  it("that is damaged costs the image alone, and says so", async () => {
    server.answer(drawn("iVBORw0KGgo=", "Aquí está."));
    const chunks = await api.converse(admin.token, { content: "Dibuja el mar", modelId: await makeModel() });
    expect(textOf(chunks)).toBe("Aquí está.");
    expect(chunks.at(-1)).toMatchObject({
      status: "complete",
      error: expect.stringContaining("no se ha podido guardar"),
    });
  });

  it("reaches a program", async () => {
    server.answer(drawn(png));
    const json = { model: "", messages: [{ role: "user", content: "Dibuja el mar" }] };
    const model = await makeModel();
    const whole = await api.call("POST", "/chat/completions", { token: admin.token, json: { ...json, model } });
    const url = `data:image/png;base64,${png}`;
    expect(whole.body).toMatchObject({ choices: [{ message: { images: [{ image_url: { url } }] } }] });
    const stream = await api.call("POST", "/chat/completions", {
      token: admin.token,
      json: { ...json, model, stream: true },
    });
    expect(stream.text.split(url)).toHaveLength(2);
  });
});

describe("what OpenAI's Responses and Anthropic want back", () => {
  it("OpenAI keeps nothing, and gets its thoughts back encrypted", async () => {
    const item = { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "CIFRADO" };
    const called = {
      id: "fc_1",
      type: "function_call",
      call_id: "c1",
      name: "calcular",
      arguments: '{"cuenta":"6*7"}',
      status: "completed",
    };
    const response = { id: "r", object: "response", created_at: 1, model: "gpt-5", output: [] };
    const used = { usage: { input_tokens: 3, output_tokens: 4 } };
    const stream = (...list: { type: string }[]) => ({
      status: 200,
      type: "text/event-stream",
      pieces: [list.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join("")],
    });
    server.answer(
      stream(
        { type: "response.created", response } as never,
        { type: "response.output_item.added", output_index: 0, item: { ...item, encrypted_content: null } } as never,
        { type: "response.output_item.done", output_index: 0, item } as never,
        { type: "response.output_item.added", output_index: 1, item: { ...called, arguments: "" } } as never,
        { type: "response.output_item.done", output_index: 1, item: called } as never,
        { type: "response.completed", response: { ...response, ...used } } as never,
      ),
      stream(
        { type: "response.created", response } as never,
        {
          type: "response.output_item.added",
          output_index: 0,
          item: { id: "m", type: "message", role: "assistant", content: [] },
        } as never,
        {
          type: "response.output_text.delta",
          item_id: "m",
          output_index: 0,
          content_index: 0,
          delta: "Son 42.",
        } as never,
        {
          type: "response.output_item.done",
          output_index: 0,
          item: { id: "m", type: "message", role: "assistant", content: [] },
        } as never,
        { type: "response.completed", response: { ...response, ...used } } as never,
      ),
    );
    const modelId = await makeModel({ provider: "openai", externalId: "gpt-5", reasoning: "low" });
    const chunks = await api.converse(admin.token, { content: "¿6×7?", modelId });
    expect(textOf(chunks)).toBe("Son 42.");
    const asked = server.asked.map(
      ({ body }) => JSON.parse(body) as { store: boolean; include?: string[]; input: object[] },
    );
    for (const { store, include } of asked.slice(0, 2)) {
      expect(store).toBe(false);
      expect(include).toContain("reasoning.encrypted_content");
    }
    expect(asked[1]?.input).toContainEqual(
      expect.objectContaining({ type: "reasoning", encrypted_content: "CIFRADO" }),
    );
    expect(JSON.stringify(asked[1]?.input)).not.toContain("item_reference");
  });

  it("Anthropic gets redacted and signed thoughts back separately", async () => {
    const block = (index: number, content_block: object, ...deltas: object[]) => [
      { type: "content_block_start", index, content_block },
      ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ];
    const usage = { input_tokens: 3, output_tokens: 5 };
    const stream = (reason: string, ...blocks: object[]) => {
      const message = {
        id: "1",
        type: "message",
        role: "assistant",
        model: "x",
        content: [],
        stop_reason: null,
        usage,
      };
      const all = [
        { type: "message_start", message },
        ...blocks,
        { type: "message_delta", delta: { stop_reason: reason }, usage },
        { type: "message_stop" },
      ] as { type: string }[];
      return {
        status: 200,
        type: "text/event-stream",
        pieces: [all.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join("")],
      };
    };
    const thinking = (index: number, text: string, signature: string) =>
      block(
        index,
        { type: "thinking", thinking: "", signature: "" },
        { type: "thinking_delta", thinking: text },
        { type: "signature_delta", signature },
      );
    server.answer(
      stream(
        "tool_use",
        ...thinking(0, "Uno.", "FIRMA-1"),
        ...thinking(1, "Dos.", "FIRMA-2"),
        ...block(2, { type: "redacted_thinking", data: "TAPADO" }),
        ...block(
          3,
          { type: "tool_use", id: "toolu_1", name: "calcular", input: {} },
          { type: "input_json_delta", partial_json: '{"cuenta":"6*7"}' },
        ),
      ),
      stream("end_turn", ...block(0, { type: "text", text: "" }, { type: "text_delta", text: "Son 42." })),
    );
    const modelId = await makeModel({ provider: "anthropic", externalId: "claude-x", reasoning: "low" });
    const chunks = await api.converse(admin.token, { content: "¿6×7?", modelId });
    expect(textOf(chunks)).toBe("Son 42.");
    const [turn] = messagesOf(server.asked[1]?.body);
    expect(turn?.content).toMatchObject([
      { type: "thinking", thinking: "Uno.", signature: "FIRMA-1" },
      { type: "thinking", thinking: "Dos.", signature: "FIRMA-2" },
      { type: "redacted_thinking", data: "TAPADO" },
      { type: "tool_use", id: "toolu_1" },
    ]);
  });
});

describe("a parameter that a server refuses", () => {
  const refusal = (message: string, param?: string, status = 400) => ({
    status,
    type: "application/json",
    pieces: [JSON.stringify({ error: { message, type: "invalid_request_error", param: param ?? null } })],
  });
  it.each([
    [
      "max_tokens",
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      { max_completion_tokens: 4096 },
      "max_tokens",
    ],
    [
      "stream_options",
      '[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]',
      {},
      "stream_options",
    ],
    [
      "temperature",
      "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
      {},
      "temperature",
    ],
    ["tools", "registry.ollama.ai/library/gemma3:4b does not support tools", {}, ""],
    ["tools", "tools param requires --jinja flag", {}, ""],
  ])("%s is left out, once: %s", async (param, message, instead, stored) => {
    server.answer(refusal(message), answer);
    const modelId = await makeModel({ temperature: 0.2 });
    const chunks = await api.converse(admin.token, { content: "Hola", modelId });
    expect(textOf(chunks)).toBe("Son 42.");
    const [first, second] = server.asked.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
    expect(first).toHaveProperty(param);
    expect(second).not.toHaveProperty(param);
    expect(second).toMatchObject(instead);
    const model = (await api.call("GET", `/api/model/${modelId}`, { token: admin.token })).body as {
      refused: string;
      usesTools: boolean;
    };
    expect(model).toMatchObject({ refused: stored, usesTools: param !== "tools" });
    server.answer(answer);
    await api.converse(admin.token, { content: "Hola", modelId });
    expect(JSON.parse(server.asked[0]?.body ?? "{}")).not.toHaveProperty(param);
  });

  it("can be set by hand, in words that are known", async () => {
    server.answer(answer);
    const modelId = await makeModel({ refused: "stream_options, max_tokens", temperature: 1 });
    await api.converse(admin.token, { content: "Hola", modelId });
    const asked = JSON.parse(server.asked[0]?.body ?? "{}") as Record<string, unknown>;
    expect(asked).not.toHaveProperty("stream_options");
    expect(asked).toMatchObject({ max_completion_tokens: 4096, temperature: 1 });
    const json = { name: "x", provider: "openai-compatible", externalId: "x", refused: "magia" };
    const answered = await api.call("POST", "/api/model", { token: admin.token, json });
    expect(answered.status).toBe(422);
    expect(answered.text).toContain("stream_options");
  });

  it("a request refused for another reason is not retried", async () => {
    server.answer(refusal("Invalid value for 'messages[0].content'"));
    await api.converse(admin.token, { content: "Hola", modelId: await makeModel({ usesTools: false }) });
    expect(server.asked).toHaveLength(1);
  });
});

describe("the address of a server", () => {
  it.each([
    ["/v1/chat/completions", "/v1/chat/completions", "/v1"],
    ["/v1/", "/v1/chat/completions", "/v1"],
    ["/v1/models", "/v1/chat/completions", "/v1"],
    [
      "/openai/deployments/x/chat/completions?api-version=2024-10-21",
      "/openai/deployments/x/chat/completions?api-version=2024-10-21",
      "/openai/deployments/x?api-version=2024-10-21",
    ],
  ])("%s is understood", async (path, asked, stored) => {
    server.answer(answer);
    const modelId = await makeModel({ baseUrl: `${server.url}${path}` });
    await api.converse(admin.token, { content: "Hola", modelId });
    expect(server.asked[0]?.path).toBe(asked);
    const model = (await api.call("GET", `/api/model/${modelId}`, { token: admin.token })).body;
    expect(model).toMatchObject({ baseUrl: `${server.url}${stored}` });
  });

  it("without /v1 is found at the first try, and kept", async () => {
    server.answer({ status: 404, type: "text/plain", pieces: ["404 page not found"] }, answer);
    const modelId = await makeModel({ baseUrl: server.url });
    const chunks = await api.converse(admin.token, { content: "Hola", modelId });
    expect(textOf(chunks)).toBe("Son 42.");
    expect((await api.call("GET", `/api/model/${modelId}`, { token: admin.token })).body).toMatchObject({
      baseUrl: `${server.url}/v1`,
    });
  });

  it("of another protocol is refused in words", async () => {
    const json = {
      name: "x",
      provider: "openai-compatible",
      externalId: "x",
      baseUrl: "http://127.0.0.1:11434/api/chat",
    };
    const answered = await api.call("POST", "/api/model", { token: admin.token, json });
    expect(answered.status).toBe(422);
    expect(answered.text).toContain("Elige el proveedor Ollama");
  });
});

it("merges two consecutive questions after a failed reply", async () => {
  server.answer({ status: 500, type: "application/json", pieces: ["{}"] });
  const modelId = await makeModel({ usesTools: false });
  const failed = await api.converse(admin.token, { content: "Primera", modelId });
  const [start] = failed;
  if (start?.type !== "start") throw new Error("no start");
  server.answer(answer);
  await api.converse(admin.token, { content: "Segunda", chatId: start.chatId, parentId: start.messageId, modelId });
  const { messages } = JSON.parse(server.asked[0]?.body ?? "{}") as { messages: { role: string; content: string }[] };
  expect(messages.filter(({ role }) => role !== "system")).toEqual([{ role: "user", content: "Primera\n\nSegunda" }]);
});

it("a continued reply with nothing to add is complete", async () => {
  server.answer({
    status: 200,
    type: "text/event-stream",
    pieces: [`data: ${JSON.stringify(chunk({ content: "Todo." }))}\n\n`],
  });
  const modelId = await makeModel({ usesTools: false });
  const [start] = await api.converse(admin.token, { content: "Hola", modelId });
  if (start?.type !== "start") throw new Error("no start");
  server.answer(events(chunk({}, "stop")));
  const chunks = await api.converse(admin.token, { parentId: start.messageId, modelId });
  expect(chunks.find(({ type }) => type === "end")).toMatchObject({ status: "complete" });
});

describe("«Probar» says what it has found", () => {
  const list = {
    status: 200,
    type: "application/json",
    pieces: [
      JSON.stringify({ data: [{ id: "x", max_model_len: 16_384, architecture: { input_modalities: ["text"] } }] }),
    ],
  };
  const test = async (modelId: string) =>
    (await api.call("POST", `/api/model/${modelId}/test`, { token: admin.token })).body as object;

  it("of a server with tools that reports its model capabilities", async () => {
    server.answer(
      events(chunk({ reasoning_content: "Cuento." }), chunk({ content: "Hola." }), chunk({}, "stop")),
      list,
    );
    expect(await test(await makeModel())).toMatchObject({
      ok: true,
      answer: "Hola.",
      takesTools: true,
      thinks: true,
      seesImages: false,
      contextWindow: 16_384,
    });
  });

  it("of one that takes none and says nothing", async () => {
    const message = JSON.stringify({ error: { message: "this model does not support tools" } });
    const nothing = { status: 404, type: "text/plain", pieces: ["no"] };
    server.answer({ status: 400, type: "application/json", pieces: [message] }, answer, nothing);
    const modelId = await makeModel();
    expect(await test(modelId)).toMatchObject({
      ok: true,
      takesTools: false,
      thinks: false,
      seesImages: null,
      contextWindow: null,
    });
    expect((await api.call("GET", `/api/model/${modelId}`, { token: admin.token })).body).toMatchObject({
      usesTools: false,
    });
  });
});
