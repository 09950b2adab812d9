import { afterAll, beforeAll, expect, it } from "vitest";
import { modelAt, readingOf, startRecorded, tools } from "./recorded.ts";

let server: Awaited<ReturnType<typeof startRecorded>>;
beforeAll(async () => {
  server = await startRecorded();
});
afterAll(() => server.stop());

const event = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const stream = (...events: string[]) => ({ status: 200, type: "text/event-stream", pieces: events });
const schema = {
  type: "object" as const,
  properties: { q: { anyOf: [{ type: "string" as const }, { type: "null" as const }] } },
};

it.each([
  [
    "Kimi's",
    400,
    "tools.function.parameters is not a valid moonshot flavored json schema, details: <when using anyOf, …>",
  ],
  ["Kimi's for a name", 400, "required property 'codecType' is not defined"],
  ["of llama.cpp's templates", 500, "Unknown (built-in) filter 'upper' for type Array"],
  ["Fireworks'", 500, "JSON Schema not supported: could not understand the instance `{}`."],
  [
    "Ollama's",
    400,
    "json: cannot unmarshal bool into Go struct field .tools.function.parameters.properties of type api.ToolProperty",
  ],
  ["in words that nobody knows", 400, "The parameters of one of the tools are of no use"],
])("a description that is refused in words %s is sent in a plainer form", async (_name, status, message) => {
  const refused = { status, type: "application/json", pieces: [JSON.stringify({ error: { message } })] };
  server.answer(refused, stream(event({ content: "Hola" }), event({}, "stop")));
  const tool = { type: "function" as const, name: "tiempo", description: "", inputSchema: schema };
  expect(await readingOf(modelAt(server.url), { tools: [tool] })).toMatchObject({ text: "Hola" });
  expect(server.asked).toHaveLength(2);
  expect(server.asked[0]?.body).toContain("anyOf");
  expect(server.asked[1]?.body).toContain('"properties":{"q":{"type":"string"}}');
});

it("a failure that is none of the tools is not asked again", async () => {
  server.answer({ status: 400, type: "application/json", pieces: ['{"error":{"message":"No"}}'] });
  expect(await readingOf(modelAt(server.url), { tools })).toMatchObject({ kind: "parameter" });
  expect(server.asked).toHaveLength(1);
});

it("descriptions stay whole if a plainer form is refused, too", async () => {
  const message = "Something about functions and their parameters";
  const refused = { status: 400, type: "application/json", pieces: [JSON.stringify({ error: { message } })] };
  const model = modelAt(server.url);
  const tool = { type: "function" as const, name: "tiempo", description: "", inputSchema: schema };
  server.answer(refused);
  expect(await readingOf(model, { tools: [tool] })).toMatchObject({ kind: "parameter" });
  expect(server.asked).toHaveLength(2);
  server.answer(stream(event({ content: "Hola" }), event({}, "stop")));
  await readingOf(model, { tools: [tool] });
  expect(server.asked[0]?.body).toContain("anyOf");
});

it("a name that begins with a digit is sent with letters before it, and comes back as it was", async () => {
  const call = { index: 0, id: "a", type: "function", function: { name: "t_21st_buscar", arguments: "{}" } };
  server.answer(stream(event({ tool_calls: [call] }), event({}, "tool_calls")));
  const tool = {
    type: "function" as const,
    name: "21st_buscar",
    description: "",
    inputSchema: { type: "object" as const },
  };
  const read = await readingOf(modelAt(server.url), { tools: [tool] });
  expect(server.asked[0]?.body).toContain('"name":"t_21st_buscar"');
  expect(read.calls).toEqual([{ name: "21st_buscar", raw: "{}" }]);
});
