import { APICallError } from "@ai-sdk/provider";
import { expect, it } from "vitest";
import { ReplyError, replyError } from "../../app/replies/errors.server.ts";
import { refusedIn, refusedToolIn } from "../../app/replies/providers/refused-parameters.server.ts";

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
    "a missing field",
    400,
    '{"error":{"message":"Missing `reasoning_content` field in the assistant message","type":"invalid_request_error"}}',
    [],
  ],
  [
    "a full window",
    400,
    '{"error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 190000 + 21333 > 200000"}}',
    [],
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
])("%i %s", (status, said, kind, fits, retryAfter) => {
  const error = failure(status, said);
  expect(error).toBeInstanceOf(ReplyError);
  expect(error).toMatchObject({ kind, ...(fits && { fits }), ...(retryAfter && { retryAfter }) });
});
