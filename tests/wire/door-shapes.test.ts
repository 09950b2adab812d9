import { describe, expect, it, vi } from "vitest";
import { stream } from "../../app/api/chats/conversation.server.ts";
import { asked, completionRequest } from "../../app/api/doors/chat-completion-request.server.ts";
import { type DoorRequest, promptOf } from "../../app/api/doors/door-request.server.ts";
import { askedMessage, messageRequest } from "../../app/api/doors/message-request.server.ts";
import { askedResponse, responseRequest } from "../../app/api/doors/response-request.server.ts";
import { asAnthropic, asOpenAi, Problem } from "../../app/api/http/problem.server.ts";
import type { ModelRow } from "../../app/db/tables.ts";
import { readChunks } from "../../app/http/chunk-stream.server.ts";
import type { Chunk } from "../../app/replies/chunk.ts";

const messages = [{ role: "user", content: "Hola" }];
const model = { acceptsImages: 1 } as ModelRow;

describe("a request as clients send it is taken", () => {
  it.each<[string, object]>([
    ["null for what is not here", { audio: null, prediction: null, top_logprobs: null }],
    ["the newest word for the most thinking", { reasoning_effort: "max" }],
    [
      "a refusal as a part",
      { messages: [...messages, { role: "assistant", content: [{ type: "refusal", refusal: "No" }] }] },
    ],
    ["a setting of the cache", { prompt_cache_options: { mode: "auto" } }],
  ])("chat completions: %s", (_what, more) => {
    expect(asked.safeParse({ model: "m", messages, ...more }).error).toBeUndefined();
  });

  it("chat completions refuse what would change the answer, by its name", () => {
    const { error } = asked.safeParse({ model: "m", messages, audio: { voice: "alloy" } });
    expect(error?.issues[0]?.message).toBe("Aquí no hay «audio». Quítalo de la petición.");
  });

  it("messages: null and many stop sequences", () => {
    const body = {
      model: "m",
      max_tokens: 10,
      messages,
      container: null,
      mcp_servers: null,
      stop_sequences: Array(9).fill("x"),
    };
    expect(askedMessage.safeParse(body).error).toBeUndefined();
  });

  it("responses: items and tools of providers, and tools that came later", () => {
    const named = (name: string) => ({ type: "custom", name });
    const body = askedResponse.parse({
      model: "m",
      conversation: null,
      reasoning: { effort: "max" },
      include: ["web_search_call.action.sources"],
      tools: [
        { type: "web_search_2025_08_26" },
        { type: "image_generation" },
        { type: "namespace", name: "n", tools: [named("a")] },
      ],
      tool_choice: { type: "web_search" },
      input: [
        ...messages,
        { type: "compaction", encrypted_content: "g" },
        { type: "web_search_call", id: "ws", status: "completed", action: {} },
        { type: "additional_tools", role: "developer", tools: [named("b")] },
      ],
    });
    const request = responseRequest(body, Array.isArray(body.input) ? body.input : [], {} as never);
    expect(request.tools.map(({ name }) => name)).toEqual(["n__a", "b"]);
    expect(request.settings.reasoning).toBe("xhigh");
    expect(request.toolChoice).toBeUndefined();
  });
});

it("only the tools that a program allows for an answer are offered", () => {
  const [a, b] = ["a", "b"].map((name) => ({ type: "function" as const, function: { name } }));
  const chat = asked.parse({
    model: "m",
    messages,
    tools: [a, b],
    tool_choice: { type: "allowed_tools", allowed_tools: { mode: "required", tools: [b] } },
  });
  expect(completionRequest(chat)).toMatchObject({ tools: [{ name: "b" }], toolChoice: { type: "required" } });
  const response = askedResponse.parse({
    model: "m",
    input: "Hola",
    tools: [
      { type: "function", name: "a" },
      { type: "custom", name: "b" },
    ],
    tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "a" }] },
  });
  const request = responseRequest(response, [], {} as never);
  expect(request).toMatchObject({ tools: [{ name: "a" }], toolChoice: { type: "auto" } });
});

it("messages take findings of a program's own search", () => {
  const found = {
    type: "search_result",
    source: "https://e.es",
    title: "Bases",
    content: [{ type: "text", text: "Hasta el 3." }],
  };
  const content = [
    { type: "tool_result", tool_use_id: "t", content: [found, { type: "tool_reference", tool_name: "x" }] },
  ];
  const call = { role: "assistant", content: [{ type: "tool_use", id: "t", name: "x", input: {} }] };
  const body = askedMessage.parse({
    model: "m",
    max_tokens: 10,
    messages: [...messages, call, { role: "user", content }],
  });
  expect(messageRequest(body, {} as never).said.at(-1)?.segments).toEqual([
    { text: "«Bases» (https://e.es):\nHasta el 3." },
    { text: "Herramienta: x" },
  ]);
});

it("a refusal in the history reaches the model as what was said", () => {
  const body = asked.parse({
    model: "m",
    messages: [...messages, { role: "assistant", content: null, refusal: "No puedo." }],
  });
  expect(completionRequest(body).said[1]).toEqual({ role: "assistant", segments: [{ text: "No puedo." }], calls: [] });
});

it("a request of instructions alone is asked as a question", async () => {
  const said: DoorRequest["said"] = [{ role: "system", segments: [{ text: "Saluda." }] }];
  const prompt = await promptOf({ said, tools: [] } as unknown as DoorRequest, model, "messages");
  expect(prompt).toMatchObject({ system: "", turns: [{ role: "user", content: "Saluda." }] });
});

it("older images of a long conversation become a line of text", async () => {
  const point = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const said: DoorRequest["said"] = Array.from({ length: 22 }, () => ({ role: "user", segments: [{ image: point }] }));
  const { turns } = await promptOf({ said, tools: [] } as unknown as DoorRequest, model, "messages");
  const images = turns.flatMap((turn) => ("images" in turn ? (turn.images ?? []) : []));
  expect(images).toHaveLength(20);
  expect(turns[0]).toMatchObject({ content: expect.stringContaining("ya no se enseña") });
});

it("limits and long prompts are told in the words that clients act on", () => {
  const busy = new Problem(429, "Espera.", { headers: { "Retry-After": "7" }, code: "rate_limit_exceeded" });
  expect(asOpenAi(busy)).toMatchObject({ code: "rate_limit_exceeded", message: "Espera. (try again in 7s)" });
  expect(asOpenAi(new Problem(429, "Sin plan.", { code: "insufficient_quota" }))).toMatchObject({
    type: "insufficient_quota",
  });
  const long = new Problem(400, "Es larga.", { code: "context_length_exceeded" });
  expect(asAnthropic(long).error.message).toContain("prompt is too long");
});

it("sends a line in each long pause of a reply, which its readers skip", async () => {
  vi.useFakeTimers();
  const goOn = Promise.withResolvers<void>();
  async function* chunks(): AsyncGenerator<Chunk[]> {
    yield [{ type: "text", at: 0, text: "Hola" }];
    await goOn.promise;
    yield [{ type: "text", at: 4, text: ", ya" }];
  }
  try {
    const [mine, theirs] = stream(chunks()).tee();
    const reader = mine.getReader();
    const read = async () => new TextDecoder().decode((await reader.read()).value);
    expect(await read()).toBe('{"type":"text","at":0,"text":"Hola"}\n\n');
    const line = read();
    await vi.advanceTimersByTimeAsync(16_000);
    expect(await line).toBe("\n");
    goOn.resolve();
    await read();
    const all: Chunk[] = [];
    for await (const some of readChunks(theirs)) all.push(...some);
    expect(all).toMatchObject([{ text: "Hola" }, { text: ", ya" }]);
  } finally {
    vi.useRealTimers();
  }
});

it("results of tools stand right behind their calls, whatever a program says in between", async () => {
  const call = (id: string) => ({ type: "tool_use", id, name: "leer", input: { q: "현\ud99c 보유" } });
  const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: id });
  const said = { type: "text", text: "Recuerda \ud99c esto" };
  const body = askedMessage.parse({
    model: "m",
    max_tokens: 10,
    tools: [{ name: "leer", input_schema: { type: "object" } }],
    messages: [
      ...messages,
      { role: "assistant", content: [{ type: "server_tool_use", id: "s", name: "web_search" }, call("a"), call("b")] },
      { role: "user", content: [result("a"), said, result("b")] },
    ],
  });
  const { turns } = await promptOf(messageRequest(body, {} as never), model, "messages");
  expect(turns.map(({ role, content }) => [role, content])).toEqual([
    ["user", "Hola"],
    ["assistant", ""],
    ["tool", "a"],
    ["tool", "b"],
    ["user", "Recuerda \ufffd esto"],
  ]);
  expect(JSON.stringify(turns)).not.toContain("ud99c");
});

it("a conversation of some thousand messages is taken", () => {
  const many = Array(5_000).fill(messages[0]);
  expect(asked.safeParse({ model: "m", messages: many }).error).toBeUndefined();
  expect(askedMessage.safeParse({ model: "m", max_tokens: 10, messages: many }).error).toBeUndefined();
  expect(askedResponse.safeParse({ model: "m", input: many }).error).toBeUndefined();
});
