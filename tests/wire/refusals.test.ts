import { APICallError } from "@ai-sdk/provider";
import { expect, it } from "vitest";
import { ReplyError, replyError } from "../../app/replies/errors.server.ts";
import {
  type Parameter,
  refusedIn,
  refusedToolIn,
  withoutRefused,
} from "../../app/replies/providers/refused-parameters.server.ts";
import { plainSchema } from "../../app/replies/providers/tool-schema.server.ts";

const failure = (statusCode: number, responseBody: string) =>
  replyError(new APICallError({ message: "", url: "", requestBodyValues: {}, statusCode, responseBody }));

it.each([
  ["does not support tools", 400, "registry.ollama.ai/library/gemma3:4b does not support tools", ["tools"]],
  [
    "auto tool choice",
    400,
    '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    ["tools"],
  ],
  ["OpenRouter", 404, "No endpoints found that support tool use.", ["tools"]],
  ["images at OpenRouter", 404, '{"error":{"message":"No endpoints found that support image input"}}', ["images"]],
  ["images", 400, "Invalid content type. image_url is only supported by certain models.", ["images"]],
  ["instructions of Gemma", 400, "Developer instruction is not enabled for models/gemma-3-27b-it", ["system"]],
  ["a role of a template", 400, "System role not supported", ["system"]],
  ["a choice of tools", 400, "tool_choice 'auto' is not supported", ["tool_choice"]],
  ["parallel calls", 400, "This model does not support parallel tool calls", []],
  [
    "too many tools",
    400,
    `{"error":{"message":"Invalid 'tools': array too long. Expected an array with maximum length 128","param":"tools","code":"array_above_max_length"}}`,
    [],
  ],
  ["JSON with calls", 400, "Function calling with a response mime type: 'application/json' is unsupported", []],
  [
    "a missing thought",
    400,
    '{"error":{"message":"Missing `reasoning_content` field in the assistant message","type":"invalid_request_error"}}',
    ["unthought_calls"],
  ],
  [
    "a full window",
    400,
    '{"error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000"}}',
    [],
  ],
  [
    "a summary of thoughts",
    400,
    '{"error":{"message":"Your organization must be verified to generate reasoning summaries.","param":"reasoning.summary","code":"unsupported_value"}}',
    ["reasoning_summary"],
  ],
  ["thinking, in Gemini's words", 400, "Thinking budget is not supported for this model.", ["reasoning_effort"]],
  [
    "images, in Groq's words",
    400,
    `{"error":{"message":"'messages.1' : for 'role:user' the following must be satisfied[('messages.1.content' : value must be a string)]","type":"invalid_request_error"}}`,
    ["images"],
  ],
  ["thinking, in Ollama's words", 400, '"llama3.1:8b" does not support thinking', ["reasoning_effort"]],
  ["a strength of thinking", 400, 'think value "high" is not supported for this model', ["reasoning_effort"]],
  [
    "thinking with tools",
    400,
    '{"error":{"message":"Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to \'none\'.","param":"reasoning_effort"}}',
    ["thinking_with_tools"],
  ],
  ["a rate limit", 429, "temperature is not supported", []],
])("of %s, only what is refused is left out", (_what, status, said, parameters) => {
  expect(refusedIn(failure(status, said), new Set())).toEqual(parameters);
});

it("drops a tool for its schema, not for bad calls", () => {
  const tools = [{ name: "search" }];
  expect(
    refusedToolIn(failure(400, "Invalid schema for function 'search': keyword 'pattern' is not supported"), tools),
  ).toBe("search");
  expect(
    refusedToolIn(failure(400, "tool call validation failed: parameters for tool search did not match schema"), tools),
  ).toBeUndefined();
});

it.each([
  [400, "input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000", "too-long", 200_000, undefined],
  [
    429,
    '{"error":{"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota, please check your plan and billing details. Please retry in 34.07s."}}',
    "busy",
    undefined,
    34.07,
  ],
  [
    429,
    '{"error":{"code":"insufficient_quota","message":"You exceeded your current quota, please check your plan and billing details."}}',
    "unpaid",
    undefined,
    undefined,
  ],
  [400, '{"error":"Cannot truncate prompt with n_keep (15028) >= n_ctx (4096)"}', "too-long", 4096, undefined],
  [404, "No endpoints found matching your data policy", "forbidden", undefined, undefined],
  [
    404,
    "No endpoints available matching your guardrail restrictions and data policy",
    "forbidden",
    undefined,
    undefined,
  ],
  [
    429,
    "Your team has either used all available credits or reached its monthly spending limit",
    "unpaid",
    undefined,
    undefined,
  ],
  [422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096", "too-long", undefined, undefined],
  [
    400,
    '{"error":{"message":"Failed to call a function","code":"tool_use_failed"}}',
    "misspelt-call",
    undefined,
    undefined,
  ],
  [
    400,
    "Input length 877338 exceeds the maximum allowed input length of 639968 tokens",
    "too-long",
    639_968,
    undefined,
  ],
  [400, '{"error":{"code":"1261","message":"Prompt exceeds max length"}}', "too-long", undefined, undefined],
  [
    400,
    '{"error":{"code":"1210","message":"tokens in request more than max tokens allowed"}}',
    "too-long",
    undefined,
    undefined,
  ],
  [
    400,
    "You have reached your specified API usage limits. You will regain access on 2026-12-01.",
    "unpaid",
    undefined,
    undefined,
  ],
  [429, "You've reached your weekly usage limit", "unpaid", undefined, undefined],
  [403, "You have exceeded the weekly (7-day) usage limit", "unpaid", undefined, undefined],
  [429, "Rate limit exceeded: free-models-per-day", "unpaid", undefined, undefined],
  [403, "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO", "filtered", undefined, undefined],
  [
    400,
    '{"error":{"code":"1301","message":"系统检测到输入或生成内容可能包含不安全或敏感内容"}}',
    "filtered",
    undefined,
    undefined,
  ],
  [400, "sensitive_words_detected", "filtered", undefined, undefined],
  [
    400,
    '{"error":{"code":"model_not_supported","message":"The requested model is not supported."}}',
    "unknown-model",
    undefined,
    undefined,
  ],
  [400, "The model has crashed without additional information. (Exit code: 1)", "broken", undefined, undefined],
  [
    404,
    "Failed to load model «x». Model loading was stopped due to insufficient system resources.",
    "overloaded",
    undefined,
    undefined,
  ],
  [400, "API key expired. Please renew the API key. API_KEY_INVALID", "key", undefined, undefined],
])("%i %s", (status, said, kind, fits, retryAfter) => {
  const error = failure(status, said);
  expect(error).toBeInstanceOf(ReplyError);
  expect(error).toMatchObject({ kind, ...(fits && { fits }), ...(retryAfter && { retryAfter }) });
});

it("a wait of one second is told in the singular", () => {
  const headers = { "retry-after": "1" };
  const error = replyError(
    new APICallError({ message: "", url: "", requestBodyValues: {}, statusCode: 429, responseHeaders: headers }),
  );
  expect((error as ReplyError).message).toContain("dentro de 1 segundo o");
});

it("a wait of hours is told in hours", () => {
  const headers = { "retry-after": "18000" };
  const error = replyError(
    new APICallError({ message: "", url: "", requestBodyValues: {}, statusCode: 429, responseHeaders: headers }),
  );
  expect((error as ReplyError).message).toContain("dentro de 5 horas o");
});

it.each([
  "The uploaded image is not supported. We support images of the types png and jpeg.",
  "Images are not allowed in system messages",
])("a model is not taken for blind because of «%s»", (said) => {
  expect(refusedIn(failure(400, said), new Set())).not.toContain("images");
});

it("keeps of a schema types, names and choices, however it refers to itself", () => {
  const more = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`p${n}`, { $ref: "#/$defs/N" }]));
  const given = {
    $defs: { N: { type: "object", properties: more }, B: { $ref: "#/$defs/C" }, C: { type: "integer", minimum: 1 } },
    type: "object",
    properties: {
      whole: { allOf: [{ $ref: "#/$defs/B" }], description: "Cuántas" },
      one: { enum: [1, 2] },
      maybe: { anyOf: [{ type: "null" }, { type: "string", pattern: "x" }] },
      all: { $ref: "#/$defs/N" },
    },
  };
  const plain = plainSchema(given);
  expect(plain).toMatchObject({
    properties: {
      whole: { type: "integer", description: "Cuántas" },
      one: { type: "number", enum: [1, 2] },
      maybe: { type: "string" },
    },
  });
  // With an expansion of all references it has a million times as many.
  expect(JSON.stringify(plain).length).toBeLessThan(200_000);
});

it.each<[Parameter, string]>([
  ["long_call_ids", "Tool call id was call_49c89af0 but must be a-z, A-Z, 0-9, with a length of 9."],
  ["unthought_calls", "The `reasoning_content` in the thinking mode must be passed back to the API."],
  ["unthought_calls", "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"],
  ["unsigned_calls", "Function call is missing a thought_signature in functionCall parts."],
])("puts earlier calls right for %s", (name, message) => {
  const body = JSON.stringify({ error: { message, type: "invalid_request_error" } });
  for (const status of [400, 500]) expect(refusedIn(failure(status, body), new Set())).toEqual([name]);
  const call = { id: "call_49c89af0", type: "function", function: { name: "leer", arguments: "{}" } };
  const messages = [
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: call.id, content: "Hecho" },
    { role: "assistant", content: "Ya está." },
  ];
  const [asked, answered, said] = JSON.parse(withoutRefused(JSON.stringify({ messages }), new Set([name]))).messages;
  if (name === "long_call_ids") {
    expect(asked.tool_calls[0].id).toMatch(/^[a-z0-9]{9}$/);
    expect(answered.tool_call_id).toBe(asked.tool_calls[0].id);
  } else if (name === "unthought_calls") expect(asked.reasoning_content).toBe(" ");
  else expect(asked.tool_calls[0].extra_content.google.thought_signature).toMatch(/^skip_/);
  expect(said).toEqual(messages[2]);
});

it.each([
  ["busy", 400, '{"error":{"message":"Too many tokens, please wait before trying again."}}'],
  ["too-long", 400, '{"error":{"message":"Too many tokens: 200000 > 128000"}}'],
  ["unpaid", 429, '{"error":{"message":"Your prepayment credits are depleted. Please go to AI Studio","code":429}}'],
  ["unpaid", 403, '{"error":{"code":"AllocationQuota.FreeTierOnly","message":"The free tier has been exhausted."}}'],
  ["forbidden", 400, '{"error":{"message":"User location is not supported for the API use.","code":400}}'],
  [
    "misspelt-call",
    500,
    `{"error":{"code":500,"message":"Failed to parse input at pos 395: <|tool_call_start|>[buscar(query='temperature')]"}}`,
  ],
])("is %s: %d %s", (kind, status, body) => {
  const error = failure(status, body);
  expect((error as ReplyError).kind).toBe(kind);
  expect(refusedIn(error, new Set())).toEqual([]);
});

it("asks for no thinking only where tools are offered", () => {
  const sent = (body: object) => JSON.parse(withoutRefused(JSON.stringify(body), new Set(["thinking_with_tools"])));
  expect(sent({ reasoning_effort: "high", tools: [{}] })).toEqual({ reasoning_effort: "none", tools: [{}] });
  expect(sent({ reasoning_effort: "high" })).toEqual({ reasoning_effort: "high" });
});

it("instructions in parts go into the person's text", () => {
  const system = { role: "system", content: [{ type: "text", text: "Sé breve." }] };
  const body = JSON.stringify({ messages: [system, { role: "user", content: "¿Qué es?" }] });
  const { messages } = JSON.parse(withoutRefused(body, new Set(["system"]))) as { messages: unknown[] };
  expect(messages).toEqual([{ role: "user", content: "Sé breve.\n\n¿Qué es?" }]);
});

it("instructions and images that a model refuses go into the person's text", () => {
  const body = JSON.stringify({
    messages: [
      { role: "system", content: "Sé breve." },
      {
        role: "user",
        content: [
          { type: "text", text: "¿Qué es?" },
          { type: "image_url", image_url: { url: "data:" } },
        ],
      },
      { role: "assistant", content: "Un faro." },
      { role: "user", content: "¿Dónde?" },
    ],
  });
  const { messages } = JSON.parse(withoutRefused(body, new Set(["system", "images"]))) as { messages: unknown[] };
  expect(messages).toEqual([
    {
      role: "user",
      content: "Sé breve.\n\n¿Qué es?\n[Una imagen, que este modelo no puede ver.]",
    },
    { role: "assistant", content: "Un faro." },
    { role: "user", content: "¿Dónde?" },
  ]);
});

it("leaves out of requests to Google and OpenAI what they have refused", () => {
  const sent = (body: object, ...refused: Parameter[]) =>
    JSON.parse(withoutRefused(JSON.stringify(body), new Set(refused)));
  const generationConfig = { temperature: 1, thinkingConfig: { thinkingBudget: 1 }, topP: 1 };
  const image = { inlineData: { mimeType: "image/png", data: "" } };
  const google = { contents: [{ role: "user", parts: [{ text: "¿Qué es?" }, image] }], generationConfig };
  expect(sent(google, "temperature", "reasoning_effort", "images")).toEqual({
    contents: [
      { role: "user", parts: [{ text: "¿Qué es?" }, { text: "[Una imagen, que este modelo no puede ver.]" }] },
    ],
    generationConfig: { topP: 1 },
  });
  expect(sent({ reasoning: { effort: "high", summary: "detailed" } }, "reasoning_summary")).toEqual({
    reasoning: { effort: "high" },
  });
});
