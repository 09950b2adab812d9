import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  modelsOf,
  type Program,
  send,
  startProgram,
  startUpstream,
  streamed,
  streamedBlocks,
} from "../support/doors.ts";
import { startModelServer } from "../support/model-server.ts";
import { startServer, type TestServer } from "../support/server.ts";

let models: LLMock;
let server: TestServer;
let program: Program;
beforeAll(async () => {
  models = await startModelServer();
  server = await startServer({
    OPENAI_BASE_URL: `${models.url}/v1`,
    OPENAI_API_KEY: "clave",
  });
  program = await startProgram(server.url);
  await modelsOf(program);
});
afterAll(async () => {
  await server.stop();
  await models.stop();
});

const user = (content: unknown) => [{ role: "user", content }];
const post = (path: string, json: object) => send(server.url, path, json, program.key);

/** The status of what a program is answered, and its sentence. */
async function answerTo(path: string, json: object): Promise<string> {
  const answer = await post(path, json);
  const { detail = "" } = (await answer.json()) as { detail?: string };
  return `${answer.status} ${detail}`;
}

/** A model of this provider behind a server of the test's own. */
async function behind(upstream: { url: string; stop(): void }, more: object): Promise<string> {
  onTestFinished(() => void upstream.stop());
  const name = crypto.randomUUID();
  const json = { name, externalId: name, baseUrl: `${upstream.url}/v1`, usesTools: true, acceptsImages: true, ...more };
  expect((await send(server.url, "/api/model", json, program.session)).status).toBe(201);
  return name;
}
const compatible = { provider: "openai-compatible" };

const picture =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describe("parameters of a program", () => {
  it("reach the model", async () => {
    const upstream = await startUpstream(() => ({ body: streamed("Vale.") }));
    const model = await behind(upstream, compatible);
    const given = {
      top_p: 0.5,
      seed: 7,
      presence_penalty: 1,
      frequency_penalty: -1,
      reasoning_effort: "minimal",
      parallel_tool_calls: false,
      verbosity: "low",
      stop: ["FIN"],
    };
    const tools = [{ type: "function", function: { name: "tiempo", parameters: { type: "object" } } }];
    expect((await post("/chat/completions", { model, messages: user("Hola"), tools, ...given })).status).toBe(200);
    expect(upstream.asked.at(-1)).toMatchObject(given);
  });

  it.each([
    [{ plantilla: 1 }, "422 Aquí no hay «plantilla». Quítalo de la petición."],
    [{ functions: [] }, "422 «functions» es la forma antigua: usa «tools»."],
    [{ logit_bias: {} }, "422 Aquí no hay «logit_bias». Quítalo de la petición."],
    [{ logprobs: true }, "422 Aquí no se dan las probabilidades (logprobs)."],
    [{ n: 2 }, "422 Solo se da una respuesta."],
    [{ top_p: 3 }, "422 Va de 0 a 1."],
  ])("that nobody would act on are refused by name: %j", async (more, sentence) => {
    expect(await answerTo("/chat/completions", { model: "gpt-4o", messages: user("Hola"), ...more })).toBe(sentence);
  });

  it.each([
    ["openai", { seed: 3 }, "seed"],
    ["openai", { stop: "FIN" }, "stop"],
    ["anthropic", { presence_penalty: 1 }, "presence_penalty"],
    ["anthropic", { verbosity: "low" }, "verbosity"],
  ])("that %s does not have are refused by name: %j", async (provider, more, name) => {
    const model = await behind({ url: models.url, stop() {} }, { provider });
    const sentence = `422 Este modelo no admite «${name}». Quítalo de la petición o elige otro modelo.`;
    for (const stream of [false, true]) {
      const json = { model, messages: user("Hola"), stream, ...more };
      expect(await answerTo("/chat/completions", json)).toBe(sentence);
    }
  });

  it("about thinking are wishes to programs that ask every model to think", async () => {
    const message = '"llama3.1:8b" does not support thinking';
    const refusal = JSON.stringify({ error: { message, type: "invalid_request_error" } });
    const upstream = await startUpstream(({ reasoning_effort }) =>
      reasoning_effort === undefined
        ? { body: streamed("Vale.") }
        : { status: 400, type: "application/json", body: refusal },
    );
    const thinking = { thinking: { type: "adaptive" }, output_config: { effort: "high" } };
    for (const [path, json] of [
      ["/messages", { max_tokens: 9, messages: user("Hola"), ...thinking }],
      ["/responses", { store: false, input: "Hola", reasoning: { effort: "high" } }],
    ] as const) {
      const model = await behind({ ...upstream, stop() {} }, compatible);
      expect((await post(path, { model, ...json })).status).toBe(200);
    }
    upstream.stop();
  });

  it("refused by the server are named; configured defaults are dropped", async () => {
    const message = "Unsupported parameter: 'temperature' is not supported with this model.";
    const refusal = JSON.stringify({ error: { message, type: "invalid_request_error", param: "temperature" } });
    const upstream = await startUpstream(({ temperature }) =>
      temperature === undefined
        ? { body: streamed("Vale.") }
        : { status: 400, type: "application/json", body: refusal },
    );
    const model = await behind(upstream, { ...compatible, temperature: 0.7 });
    const asked = { model, messages: user("Hola") };
    for (const _ of ["found out", "known"]) {
      expect(await answerTo("/chat/completions", { ...asked, temperature: 0.2 })).toContain(
        "422 Este modelo no admite «temperature».",
      );
    }
    expect((await post("/chat/completions", asked)).status).toBe(200);
  });
});

describe("what a program says", () => {
  it("reaches the model in its order, pictures between texts", async () => {
    const upstream = await startUpstream(() => ({ body: streamed("Vale.") }));
    const model = await behind(upstream, compatible);
    const image = { type: "image_url", image_url: { url: picture } };
    const content = [{ type: "text", text: "Antes" }, image, { type: "text", text: "y después" }, image];
    expect((await post("/chat/completions", { model, messages: user(content) })).status).toBe(200);
    const [message] = (upstream.asked.at(-1) as { messages: { content: { type: string; text?: string }[] }[] })
      .messages;
    expect(message?.content.map(({ type, text }) => text ?? type)).toEqual([
      "Antes",
      "image_url",
      "y después",
      "image_url",
    ]);
  });

  it("may be files, which are read here", async () => {
    const upstream = await startUpstream(() => ({ body: streamed("Vale.") }));
    const model = await behind(upstream, compatible);
    const data = Buffer.from("El plazo son quince días.").toString("base64");
    const file_data = `data:text/plain;base64,${data}`;
    const source = { type: "base64", media_type: "text/plain", data };
    const ways: [string, object][] = [
      ["/chat/completions", { messages: user([{ type: "file", file: { filename: "bases.txt", file_data } }]) }],
      ["/responses", { store: false, input: user([{ type: "input_file", filename: "bases.txt", file_data }]) }],
      ["/messages", { max_tokens: 9, messages: user([{ type: "document", title: "bases.txt", source }]) }],
    ];
    for (const [path, json] of ways) {
      expect((await post(path, { model, ...json })).status).toBe(200);
      expect(JSON.stringify(upstream.asked.at(-1))).toContain("«bases.txt»:\\nEl plazo son quince días.");
    }
    const broken = {
      type: "file",
      file: { filename: "roto.exe", file_data: "data:a/b;base64,TVqQAAMAAAAEAAAA//8AALgAAAA=" },
    };
    expect(await answerTo("/chat/completions", { model, messages: user([broken]) })).toContain("422 «roto.exe»");
  });
});

describe("what a provider wants back with a call", () => {
  it.each(["/chat/completions", "/ollama/api/chat"])(
    "comes back to it by %s, which has no place for it",
    async (path) => {
      const extra_content = { google: { thought_signature: "FIRMA" } };
      const call = { index: 0, id: "c9", type: "function", function: { name: "tiempo", arguments: '{"en": "Vigo"}' } };
      const deltas = [{ reasoning_content: "Miro el cielo." }, { tool_calls: [{ ...call, extra_content }] }];
      const events = [
        ...deltas.map((delta) => ({ choices: [{ index: 0, delta, finish_reason: null }] })),
        { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
      ];
      const calling = `${events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join("")}data: [DONE]\n\n`;
      const upstream = await startUpstream((_, asked) => ({ body: asked === 1 ? calling : streamed("Sí.") }));
      const model = await behind(upstream, compatible);
      const tools = [{ type: "function", function: { name: "tiempo", parameters: { type: "object" } } }];
      const first = (await (await post(path, { model, tools, messages: user("¿Llueve?"), stream: false })).json()) as {
        choices?: { message: { tool_calls: object[] } }[];
        message?: { tool_calls: object[] };
      };
      const { tool_calls } = (first.choices?.[0] ?? first).message ?? { tool_calls: [] };
      expect(JSON.stringify(first)).not.toContain("FIRMA");
      const messages = [
        ...user("¿Llueve?"),
        { role: "assistant", content: "", tool_calls },
        { role: "tool", tool_call_id: "c9", content: "Llueve" },
      ];
      expect((await post(path, { model, tools, messages, stream: false })).status).toBe(200);
      const [, said] = (upstream.asked.at(-1) as { messages: object[] }).messages;
      expect(said).toMatchObject({ reasoning_content: "Miro el cielo.", tool_calls: [{ id: "c9", extra_content }] });
      // Another person's call of the same words gets none of it.
      const other = await startProgram(server.url, "Berta");
      await send(server.url, path, { model, tools, messages, stream: false }, other.key);
      expect(JSON.stringify(upstream.asked.at(-1))).not.toContain("FIRMA");
    },
  );
});

describe("tools with schemas that llama.cpp can't convert", () => {
  it("go in plain schemas, and what was asked of the model stays", async () => {
    const message = "JSON schema conversion failed:\nUnrecognized schema: {}";
    const refusal = JSON.stringify({ error: { code: 400, message, type: "invalid_request_error" } });
    type Sent = { tools?: { function: { parameters: { properties: object } } }[] };
    const upstream = await startUpstream((body) =>
      JSON.stringify((body as Sent).tools).includes('"pattern"')
        ? { status: 400, type: "application/json", body: refusal }
        : { body: streamed("Vale.") },
    );
    const model = await behind(upstream, compatible);
    const properties = { lista: { type: "array" }, codigo: { type: "string", pattern: "\\d+" } };
    const parameters = { type: "object", properties, required: ["codigo"] };
    const tools = [{ type: "function", function: { name: "buscar", parameters } }];
    for (const times of [2, 3]) {
      expect((await post("/chat/completions", { model, messages: user("Hola"), tools })).status).toBe(200);
      expect(upstream.asked.length).toBe(times);
    }
    const [plain] = (upstream.asked.at(-1) as Sent).tools ?? [];
    expect(plain?.function.parameters).toMatchObject({
      properties: { lista: { type: "array", items: { type: "string" } }, codigo: { type: "string" } },
      required: ["codigo"],
    });
    const shown = await fetch(`${server.url}/v1/api/model`, {
      headers: { Authorization: `Bearer ${program.session}` },
    });
    const { items } = (await shown.json()) as { items: { name: string; refused: string }[] };
    expect(items.find(({ name }) => name === model)?.refused).toBe("");
  });
});

describe("what was used, where the server does not count", () => {
  it("is estimated for chat completions and Messages", async () => {
    const upstream = await startUpstream(() => ({ body: streamed("Unas palabras de respuesta.") }));
    const model = await behind(upstream, compatible);
    const body = { model, messages: user("Cuéntame algo de las habas") };
    const { usage } = (await (await post("/chat/completions", body)).json()) as { usage: object };
    expect(usage).toEqual({ prompt_tokens: 7, completion_tokens: 7, total_tokens: 14 });
    const events = await (await post("/messages", { ...body, max_tokens: 50, stream: true })).text();
    const [begun] = [...events.matchAll(/"input_tokens":(\d+)/g)].map(([, count]) => Number(count));
    expect(begun).toBeGreaterThan(0);
  });
});

describe("Ollama's calls", () => {
  const get = async (path: string) =>
    (await fetch(`${server.url}/v1/ollama/api${path}`, { headers: { Authorization: `Bearer ${program.key}` } })).json();
  const ask = (path: string, json: object) => post(`/ollama/api${path}`, json);
  const tools = [{ type: "function", function: { name: "tiempo", parameters: { type: "object" } } }];
  const call = { index: 0, id: "c9", type: "function", function: { name: "tiempo", arguments: '{"en":"Vigo"}' } };
  const stream = (...chunks: object[]) =>
    [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), "data: [DONE]\n\n"].join("");
  const choice = (delta: object, finish_reason: string | null = null) => ({
    choices: [{ index: 0, delta, finish_reason }],
  });

  it("list the models and what they can do", async () => {
    const name = await behind({ url: models.url, stop() {} }, compatible);
    expect(await get("/version")).toEqual({ version: expect.stringMatching(/^0\.\d+\.\d+$/) });
    const { models: found } = (await get("/tags")) as { models: { name: string }[] };
    expect(found.map((one) => one.name)).toContain(name);
    const shown = await (await ask("/show", { model: name })).json();
    expect(shown).toMatchObject({ capabilities: ["completion", "tools", "vision"] });
  });

  it("answer line by line: thoughts, words, whole calls, and what was used", async () => {
    const body = stream(
      choice({ reasoning_content: "Hm." }),
      choice({ content: "Miro." }),
      choice({ tool_calls: [call] }),
      { ...choice({}, "tool_calls"), usage: { prompt_tokens: 7, completion_tokens: 4 } },
    );
    const upstream = await startUpstream(() => ({ body }));
    const model = await behind(upstream, compatible);
    const options = { temperature: 0.3, num_predict: 50, num_ctx: 8192, seed: 4, stop: ["FIN"] };
    const answer = await ask("/chat", { model, messages: user("¿Llueve?"), tools, options, keep_alive: "5m" });
    expect(answer.headers.get("Content-Type")).toBe("application/x-ndjson");
    const lines = (await answer.text()).trim().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { model, message: { role: "assistant", content: "", thinking: "Hm." }, done: false },
      { message: { content: "Miro." }, done: false },
      { message: { tool_calls: [{ function: { name: "tiempo", arguments: { en: "Vigo" } } }] }, done: false },
      { message: { content: "" }, done: true, done_reason: "stop", prompt_eval_count: 7, eval_count: 4 },
    ]);
    expect(upstream.asked.at(-1)).toMatchObject({ temperature: 0.3, max_tokens: 50, seed: 4, stop: ["FIN"] });
    const whole = await ask("/chat", { model, messages: user("¿Llueve?"), tools, stream: false });
    expect(await whole.json()).toMatchObject({
      message: { content: "Miro.", thinking: "Hm.", tool_calls: [{ function: { arguments: { en: "Vigo" } } }] },
      done: true,
    });
  });

  it("take results that name only their tool, pictures and schemas", async () => {
    const upstream = await startUpstream(() => ({ body: streamed("{}") }));
    const model = await behind(upstream, compatible);
    const calls = ["Vigo", "Jaca"].map((en) => ({ function: { name: "tiempo", arguments: { en } } }));
    const messages = [
      { role: "user", content: "Mira", images: [picture.slice(picture.indexOf(",") + 1)] },
      { role: "assistant", content: "", tool_calls: calls },
      { role: "tool", tool_name: "tiempo", content: "Llueve" },
      { role: "tool", content: "Nieva" },
    ];
    const format = { type: "object", properties: { en: { type: "string" } } };
    expect((await ask("/chat", { model, messages, tools, format, stream: false })).status).toBe(200);
    const asked = upstream.asked.at(-1) as { messages: { tool_call_id?: string; tool_calls?: { id: string }[] }[] };
    const made = asked.messages.flatMap((one) => one.tool_calls ?? []).map(({ id }) => id);
    expect(new Set(made).size).toBe(2);
    expect(asked.messages.flatMap((one) => one.tool_call_id ?? [])).toEqual(made);
    expect(asked).toMatchObject({ response_format: { json_schema: { schema: format } } });
    expect(JSON.stringify(asked)).toContain("image_url");
  });

  it("say in «error» why they refuse, also within an answer", async () => {
    const refused = await ask("/chat", { model: "no-existe", messages: user("Hola") });
    expect([refused.status, await refused.json()]).toMatchObject([
      404,
      { error: "El modelo «no-existe» no existe aquí." },
    ]);
    const odd = await ask("/chat", { model: "gpt-4o", messages: user("Hola"), options: { mirostat: 1 } });
    expect([odd.status, await odd.json()]).toMatchObject([
      ...[422, { error: "Aquí no hay «mirostat». Quítalo de la petición." }],
    ]);
    const upstream = await startUpstream(() => ({ body: stream(choice({ content: "Em" })).replace("[DONE]", "{") }));
    const model = await behind(upstream, compatible);
    const cut = await (await ask("/chat", { model, messages: user("Hola") })).text();
    expect(
      cut
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([
      expect.objectContaining({ message: { role: "assistant", content: "Em" } }),
      { error: expect.stringContaining("cort") },
    ]);
  });
});

describe("the sequence at which a model stops", () => {
  const text = [{ start: { type: "text", text: "" }, deltas: [{ type: "text_delta", text: "Uno" }] }];
  const vllm = { choices: [{ index: 0, delta: { content: "Uno" }, finish_reason: "stop", stop_reason: "###" }] };
  it.each([
    ["Anthropic", { provider: "anthropic" }, streamedBlocks(text, "stop_sequence", "###")],
    ["vLLM", compatible, `data: ${JSON.stringify(vllm)}\n\ndata: [DONE]\n\n`],
  ])("is named by Messages, as %s says it", async (_, more, body) => {
    const upstream = await startUpstream(() => ({ body }));
    const model = await behind(upstream, more);
    const asked = { model, max_tokens: 100, messages: user("Cuenta") };
    expect(await (await post("/messages", { ...asked, stop_sequences: ["***", "###"] })).json()).toMatchObject({
      ...{ stop_reason: "stop_sequence", stop_sequence: "###" },
    });
    const streamedAnswer = await post("/messages", { ...asked, stop_sequences: ["###"], stream: true });
    expect(await streamedAnswer.text()).toContain('"stop_reason":"stop_sequence","stop_sequence":"###"');
    expect(await (await post("/messages", asked)).json()).toMatchObject({
      ...{ stop_reason: "end_turn", stop_sequence: null },
    });
  });
});

describe("thoughts that a provider has signed", () => {
  const tool = { name: "tiempo", input_schema: { type: "object" } };
  const thinking = [
    {
      start: { type: "thinking", thinking: "", signature: "" },
      deltas: [{ type: "thinking_delta", thinking: "Llueve?" }],
    },
    { start: { type: "tool_use", id: "t1", name: "tiempo", input: {} }, deltas: [] },
  ];
  thinking[0]?.deltas.push({ type: "signature_delta", signature: "FIRMA" } as never);
  const start = async () => {
    const upstream = await startUpstream((_body, asked) => ({
      body:
        asked === 1
          ? streamedBlocks(thinking, "tool_use")
          : streamedBlocks(
              [{ start: { type: "text", text: "" }, deltas: [{ type: "text_delta", text: "Sí." }] }],
              "end_turn",
            ),
    }));
    const model = await behind(upstream, { provider: "anthropic", reasoning: "low" });
    return { upstream, model };
  };
  const sentBack = { type: "thinking", thinking: "Llueve?", signature: "FIRMA" };

  it("come back to it by Messages", async () => {
    const { upstream, model } = await start();
    const asked = { model, max_tokens: 5000, tools: [tool] };
    const first = (await (await post("/messages", { ...asked, messages: user("¿Llueve?") })).json()) as {
      content: { type: string; signature?: string }[];
      stop_reason: string;
    };
    expect(first).toMatchObject({ stop_reason: "tool_use", content: [{ thinking: "Llueve?" }, { name: "tiempo" }] });
    expect(JSON.stringify(first)).not.toContain("FIRMA");
    const result = { type: "tool_result", tool_use_id: "t1", content: "Llueve" };
    const messages = [...user("¿Llueve?"), { role: "assistant", content: first.content }, ...user([result])];
    expect(await (await post("/messages", { ...asked, messages })).json()).toMatchObject({
      content: [{ type: "text", text: "Sí." }],
      stop_reason: "end_turn",
      usage: { input_tokens: 10, output_tokens: 5 },
    });
    expect(JSON.stringify(upstream.asked.at(-1))).toContain(JSON.stringify(sentBack));
    // Written by whoever asks, it goes nowhere.
    const forged = { type: "thinking", thinking: "Falso", signature: "inventada" };
    const answer = [...user("¿Llueve?"), { role: "assistant", content: [forged, ...first.content.slice(1)] }];
    expect((await post("/messages", { ...asked, messages: [...answer, ...user([result])] })).status).toBe(200);
    expect(JSON.stringify(upstream.asked.at(-1))).not.toContain("Falso");
  });

  it("come back to it by Responses, kept or sent", async () => {
    for (const store of [true, false]) {
      const { upstream, model } = await start();
      const tools = [{ type: "function", name: "tiempo", parameters: { type: "object" } }];
      const first = (await (await post("/responses", { model, tools, store, input: "¿Llueve?" })).json()) as {
        id: string;
        output: object[];
      };
      const found = { type: "function_call_output", call_id: "t1", output: "Llueve" };
      const next = store
        ? { previous_response_id: first.id, input: [found] }
        : { input: [...user("¿Llueve?"), ...first.output, found] };
      expect((await post("/responses", { model, tools, store, ...next })).status).toBe(200);
      expect(JSON.stringify(upstream.asked.at(-1))).toContain(JSON.stringify(sentBack));
    }
  });
});
