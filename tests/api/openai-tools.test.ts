import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LLMock } from "@copilotkit/aimock";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { Browser } from "../support/browser.ts";
import { startModelServer } from "../support/model-server.ts";
import { password } from "../support/password.ts";
import { startServer, type TestServer } from "../support/server.ts";

let models: LLMock;
let server: TestServer;
let session: string;
let client: OpenAI;
let apiKey: string;
beforeAll(async () => {
  models = await startModelServer();
  server = await startServer({ OPENAI_BASE_URL: "http://127.0.0.1:9/v1" });
  const email = await new Browser(server.url).signUp("Admin");
  session = await (await post("/auth/signin", { email, password })).text();
  const made = await post("/api/key", { name: "k", scope: "write" }, session);
  apiKey = ((await made.json()) as { token: string }).token;
  client = new OpenAI({ apiKey, baseURL: `${server.url}/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await server.stop();
  await models.stop();
});

const post = (path: string, json: object, token = "") =>
  fetch(`${server.url}/v1${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
    body: JSON.stringify(json),
  });

const makeModel = async (name: string, provider: string, externalId: string, baseUrl: string) => {
  const made = await post("/api/model", { name, provider, externalId, baseUrl, apiKey: "clave" }, session);
  expect(made.status).toBe(201);
  return name;
};

const asked: string[] = [];
const weather = {
  type: "function" as const,
  function: {
    name: "tiempo",
    description: "El tiempo que hace en una ciudad.",
    parameters: { type: "object", properties: { ciudad: { type: "string" } }, required: ["ciudad"] },
    parse: (input: string) => JSON.parse(input) as { ciudad: string },
    function: ({ ciudad }: { ciudad: string }) => {
      asked.push(ciudad);
      return `En ${ciudad}, lluvia.`;
    },
  },
};
const { function: _, parse: __, ...description } = weather.function;
const declared = { type: "function" as const, function: description };
const question = { role: "user" as const, content: "¿qué tiempo hace?" };

const protocols: [provider: string, externalId: string, path: string][] = [
  ["openai", "gpt-4o", "/v1"],
  ["openai-compatible", "gpt-4o", "/v1"],
  ["anthropic", "claude-3-5-sonnet-20241022", "/v1"],
  ["google", "gemini-2.0-flash", "/v1beta"],
  ["ollama", "gpt-4o", ""],
];

describe.each(protocols)("a program with tools, over %s", (provider, externalId, path) => {
  let model: string;
  beforeAll(async () => {
    model = await makeModel(`con ${provider}`, provider, externalId, `${models.url}${path}`);
  });

  it("runs the tools the model calls and receives its answer", async () => {
    asked.length = 0;
    const runner = client.chat.completions.runTools({ model, messages: [question], tools: [weather] });
    expect(await runner.finalContent()).toBe("En Vigo llueve.");
    expect(asked.toSorted()).toEqual(["Almería 🌞", "Vigo"]);
  });

  it("gets the calls as they are written", async () => {
    asked.length = 0;
    const runner = client.chat.completions.runTools({ model, messages: [question], tools: [weather], stream: true });
    let deltas = 0;
    runner.on("chunk", (chunk) => {
      if (chunk.choices[0]?.delta.tool_calls) deltas++;
    });
    expect(await runner.finalContent()).toBe("En Vigo llueve.");
    expect(asked.toSorted()).toEqual(["Almería 🌞", "Vigo"]);
    expect(deltas).toBeGreaterThanOrEqual(4);
  });
});

describe("a program with tools", () => {
  it("receives the finish reason and tool calls without text", async () => {
    const model = await makeModel("una vez", "openai-compatible", "gpt-4o", `${models.url}/v1`);
    const { choices } = await client.chat.completions.create({ model, messages: [question], tools: [declared] });
    expect(choices[0]).toMatchObject({
      finish_reason: "tool_calls",
      message: { content: null, tool_calls: [{ type: "function", function: { name: "tiempo" } }, {}] },
    });
  });

  it("written with the AI SDK has them called, too", async () => {
    const model = await makeModel("sdk", "anthropic", "claude-3-5-sonnet-20241022", `${models.url}/v1`);
    const door = createOpenAICompatible({ name: "tertulia", baseURL: `${server.url}/v1`, apiKey });
    const { name, description: said, parameters } = description;
    const { content, finishReason } = await door(model).doGenerate({
      prompt: [{ role: "user", content: [{ type: "text", text: question.content }] }],
      tools: [{ type: "function", name, description: said, inputSchema: parameters as object }],
    });
    expect(finishReason.unified).toBe("tool-calls");
    expect(content).toMatchObject([
      { type: "tool-call", toolName: "tiempo", input: '{"ciudad":"Vigo"}' },
      { type: "tool-call", toolName: "tiempo" },
    ]);
  });

  it("has tool choice and tool schemas passed on unchanged", async () => {
    const bodies: { tools: unknown; tool_choice: unknown }[] = [];
    const model = await makeModel(
      "espía",
      "openai-compatible",
      "x",
      await serve((body, answer) => {
        bodies.push(JSON.parse(body));
        answer(chunk({ content: "Nada." }, "stop"));
      }),
    );
    const tool_choice = { type: "function" as const, function: { name: "tiempo" } };
    await client.chat.completions.create({ model, messages: [question], tools: [declared], tool_choice });
    expect(bodies[0]).toMatchObject({ tools: [declared], tool_choice });
  });

  it.each([
    [
      "without ids and indexes, whole, and says that it has stopped",
      [{ function: { name: "tiempo", arguments: { ciudad: "Vigo" } } }],
      "stop",
    ],
    [
      "under one index for all",
      [{ index: 0, id: "a", function: { name: "tiempo", arguments: '{"ciudad":"Vigo"}' } }],
      "tool_calls",
    ],
  ])("understands a server that calls %s", async (how, tool_calls, reason) => {
    const model = await makeModel(
      how,
      "openai-compatible",
      how,
      await serve((_body, answer) => answer(chunk({ tool_calls }, reason))),
    );
    const { choices } = await client.chat.completions.create({ model, messages: [question], tools: [declared] });
    expect(choices[0]?.finish_reason).toBe("tool_calls");
    expect(choices[0]?.message.tool_calls).toMatchObject([
      { id: expect.stringMatching(/./), function: { name: "tiempo", arguments: '{"ciudad":"Vigo"}' } },
    ]);
  });

  it("distinguishes tool calls that come without an index or id", async () => {
    const call = (city: string) => ({ function: { name: "tiempo", arguments: JSON.stringify({ ciudad: city }) } });
    const events = ["Vigo", "Lugo"].map(
      (city) => chunk({ tool_calls: [call(city)] }, "tool_calls").split("data: [DONE]")[0],
    );
    const url = await serve((_body, answer) => answer(`${events.join("")}data: [DONE]\n\n`));
    const model = await makeModel("sin señas", "openai-compatible", "sin señas", url);
    const { choices } = await client.chat.completions.create({ model, messages: [question], tools: [declared] });
    expect(choices[0]?.message.tool_calls).toMatchObject([
      { function: { arguments: '{"ciudad":"Vigo"}' } },
      { function: { arguments: '{"ciudad":"Lugo"}' } },
    ]);
  });

  it("receives malformed arguments unchanged and may send them back", async () => {
    const model = await makeModel(
      "rota",
      "openai-compatible",
      "rota",
      await serve((_body, answer) =>
        answer(
          chunk(
            { tool_calls: [{ index: 0, id: "a", function: { name: "tiempo", arguments: '{"ciudad":' } }] },
            "tool_calls",
          ),
        ),
      ),
    );
    const request = { model, tools: [declared] };
    const { choices } = await client.chat.completions.create({ ...request, messages: [question] });
    const said = choices[0]?.message;
    if (!said) throw new Error("no message");
    expect(said.tool_calls).toMatchObject([{ function: { arguments: '{"ciudad":' } }]);
    const result = { role: "tool" as const, tool_call_id: "a", content: "Eso no es JSON." };
    const again = await client.chat.completions.create({ ...request, messages: [question, said, result] });
    expect(again.choices).toHaveLength(1);
  });

  it("is told what is wrong with what it sends", async () => {
    const model = await makeModel("estricta", "openai-compatible", "estricta", `${models.url}/v1`);
    const send = (more: object) =>
      client.chat.completions.create({ model, messages: [question], tools: [declared], ...more } as never);
    const wrong: [object, string][] = [
      [{ tools: [{ type: "function", function: { name: "con espacio" } }] }, "letras, cifras"],
      [{ tool_choice: { type: "function", function: { name: "otra" } } }, "No hay ninguna herramienta «otra»"],
      [{ tool_choice: "a veces" }, "tool_choice tiene que ser"],
      [{ messages: [question, { role: "tool", tool_call_id: "z", content: "x" }] }, "no contesta a ninguna llamada"],
      [{ tools: Array.from({ length: 129 }, () => declared) }, "Son más de 128"],
    ];
    for (const [more, sentence] of wrong) {
      await expect(send(more)).rejects.toMatchObject({ status: 422, message: expect.stringContaining(sentence) });
    }
  });
});

const chunk = (delta: object, finish_reason: string) =>
  `data: ${JSON.stringify({ id: "1", choices: [{ index: 0, delta, finish_reason }] })}\n\ndata: [DONE]\n\n`;

/** A server of OpenAI's kind that answers as told. */
async function serve(answer: (body: string, send: (events: string) => void) => void): Promise<string> {
  const http = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    answer(body, (events) => response.end(events));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void http.close());
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}
