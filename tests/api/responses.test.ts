import type { LLMock } from "@copilotkit/aimock";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Browser } from "../support/browser.ts";
import { longReply, startModelServer } from "../support/model-server.ts";
import { password } from "../support/password.ts";
import { startServer, type TestServer } from "../support/server.ts";

let models: LLMock;
let server: TestServer;
let browser: Browser;
let client: OpenAI;
let stranger: OpenAI;
beforeAll(async () => {
  models = await startModelServer();
  server = await startServer({ OPENAI_BASE_URL: `${models.url}/v1`, OPENAI_API_KEY: "clave" });
  browser = new Browser(server.url);
  client = await clientOf(await browser.signUp("Ana"));
  stranger = await clientOf(await new Browser(server.url).signUp("Bea"));
  await vi.waitFor(async () => expect((await client.models.list()).data.length).toBeGreaterThan(0), {
    timeout: 10_000,
  });
});
afterAll(async () => {
  await server.stop();
  await models.stop();
});

async function clientOf(email: string): Promise<OpenAI> {
  const post = (path: string, json: object, token = "") =>
    fetch(`${server.url}/v1${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
      body: JSON.stringify(json),
    });
  const session = await (await post("/auth/signin", { email, password })).text();
  const key = await (await post("/api/key", { name: "programa", scope: "write" }, session)).json();
  return new OpenAI({ apiKey: (key as { token: string }).token, baseURL: `${server.url}/v1`, maxRetries: 0 });
}

const model = "gpt-4o";
const weather = {
  type: "function" as const,
  name: "tiempo",
  parameters: { type: "object", properties: { ciudad: { type: "string" } } },
  strict: false,
};
const why = (request: Promise<unknown>) =>
  request.then(
    () => "no error",
    (error: { status: number; message: string }) => `${error.status} ${error.message}`,
  );

describe("a client of OpenAI's Responses", () => {
  it("gets a whole answer", async () => {
    const answer = await client.responses.create({ model, input: "Hola", store: false });
    expect(answer.output_text).toBe("Una respuesta **breve**. Con dos frases.");
    expect(answer).toMatchObject({ status: "completed", store: false, error: null, incomplete_details: null });
    expect(answer.usage?.total_tokens).toBeGreaterThan(0);
  });

  it("reads a stored response that was cut off as such", async () => {
    models.prependFixture({
      match: { userMessage: /hasta aquí/ },
      response: { content: "Y llegó", finishReason: "length" },
    });
    const kept = await client.responses.create({ model, input: "Cuenta hasta aquí" });
    const cut = { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } };
    expect(kept).toMatchObject(cut);
    expect(await client.responses.retrieve(kept.id)).toMatchObject(cut);
  });

  it("reads and deletes a stored response, unlike other people", async () => {
    const kept = await client.responses.create({ model, input: "Hola" });
    const again = await client.responses.retrieve(kept.id);
    expect(again).toMatchObject({ id: kept.id, status: "completed", output: kept.output, store: true });
    expect(again.usage?.total_tokens).toBe(kept.usage?.total_tokens);
    const next = await client.responses.create({ model, input: "¿Y qué más?", previous_response_id: kept.id });
    const { output, previous_response_id } = await client.responses.retrieve(next.id);
    expect([output.length, previous_response_id]).toEqual([1, kept.id]);
    expect(await why(stranger.responses.retrieve(kept.id))).toMatch(/^404 /);
    const listed = client.responses.inputItems.list(next.id, { order: "asc", limit: 2 });
    const items: object[] = [];
    for await (const item of listed) items.push(item);
    expect(items).toMatchObject([
      { role: "user", content: [{ type: "input_text", text: "Hola" }] },
      { role: "assistant" },
      { role: "user", content: [{ type: "input_text", text: "¿Y qué más?" }] },
    ]);
    expect(await why(stranger.responses.inputItems.list(next.id))).toMatch(/^404 /);
    expect(await why(stranger.responses.delete(kept.id))).toMatch(/^404 /);
    await client.responses.delete(next.id);
    expect(await why(client.responses.retrieve(next.id))).toMatch(/La respuesta .* no está guardada aquí/);
    expect(await why(client.responses.retrieve("resp_x"))).toMatch(/^404 /);
  });

  it("reads a stored response as events, also from the middle", async () => {
    const kept = await client.responses.create({ model, input: "Hola" });
    const read = client.responses.stream({ response_id: kept.id });
    let said = "";
    for await (const event of read) if (event.type === "response.output_text.delta") said += event.delta;
    expect(said).toBe(kept.output_text);
    expect((await read.finalResponse()).output).toMatchObject(kept.output);
    const rest: { type: string; sequence_number: number }[] = [];
    for (const starting_after of [6, 40]) {
      for await (const event of await client.responses.retrieve(kept.id, { stream: true, starting_after })) {
        rest.push(event);
      }
    }
    expect(rest.map(({ type, sequence_number }) => [type, sequence_number])).toEqual([
      ["response.output_item.done", 7],
      ["response.completed", 8],
      ["response.completed", 41],
    ]);
  });

  it("is told that there is no tool of those it requires", async () => {
    const asked = { model, store: false, input: "Hola" };
    expect(await why(client.responses.create({ ...asked, tool_choice: "required" }))).toMatch(/no se ofrece ninguna/);
    const said = { model, messages: [{ role: "user" as const, content: "Hola" }] };
    const chosen = { ...said, tool_choice: "required" as const };
    expect(await why(client.chat.completions.create(chosen))).toMatch(/^4\d\d .*no se ofrece ninguna/);
    expect((await client.responses.create({ ...asked, tool_choice: "auto" })).status).toBe("completed");
  });

  it("gets an empty catalogue as Codex, which then uses its own", async () => {
    const listed = await client.get<{ models?: unknown; data: unknown[] }>("/models?client_version=0.171.0");
    expect(listed.models).toEqual([]);
    expect(listed.data.length).toBeGreaterThan(0);
    expect(await client.get("/models")).not.toHaveProperty("models");
  });

  it("streams an answer and ends with the complete response", async () => {
    const stream = client.responses.stream({ model, input: "Una respuesta lenta", store: false });
    const kinds: string[] = [];
    for await (const { type } of stream) kinds.push(type);
    const last = await stream.finalResponse();
    expect(last.output_text).toBe(longReply);
    expect(kinds.filter((type) => type === "response.output_text.delta").length).toBeGreaterThan(10);
    expect([kinds.at(0), kinds.at(-1)]).toEqual(["response.created", "response.completed"]);
  });

  it("receives function calls and continues with the functions' results", async () => {
    const asked = { model, tools: [weather], store: false };
    const question = { role: "user" as const, content: "¿Y qué tiempo hace?" };
    const first = await client.responses.create({ ...asked, input: [question] });
    const calls = first.output.filter((item) => item.type === "function_call");
    expect(calls.map(({ name, arguments: given }) => [name, JSON.parse(given)])).toEqual([
      ["tiempo", { ciudad: "Vigo" }],
      ["tiempo", { ciudad: "Almería 🌞" }],
    ]);
    const found = calls.map(({ call_id }) => ({ type: "function_call_output" as const, call_id, output: "Llueve" }));
    const input = [question, ...first.output, ...found] as OpenAI.Responses.ResponseInput;
    expect((await client.responses.create({ ...asked, input })).output_text).toBe("En Vigo llueve.");
  });

  it("continues a stored response as a chat, for owners only", async () => {
    const first = await client.responses.create({ model, input: "¿Y qué tiempo hace?", tools: [weather] });
    const calls = first.output.filter((item) => item.type === "function_call");
    const second = {
      model,
      tools: [weather],
      previous_response_id: first.id,
      input: calls.map(({ call_id }) => ({ type: "function_call_output" as const, call_id, output: "Llueve" })),
    };
    expect(await why(stranger.responses.create(second))).toContain("404");
    const answer = await client.responses.create(second);
    expect(answer).toMatchObject({ output_text: "En Vigo llueve.", previous_response_id: first.id });
    const page = await browser.html("/conversation/chat");
    const [, chat = ""] =
      /href="(\/conversation\/chat\/[\w-]+)"[^>]*>[^<]*<span[^>]*>¿Y qué tiempo hace\?/.exec(page) ?? [];
    expect(await browser.html(chat)).toContain("En Vigo llueve.");
  });
});
