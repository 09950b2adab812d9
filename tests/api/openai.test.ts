import type { LLMock } from "@copilotkit/aimock";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { password } from "../support/api.ts";
import { Browser } from "../support/browser.ts";
import { longReply, startModelServer } from "../support/model-server.ts";
import { startServer, type TestServer } from "../support/server.ts";

let models: LLMock;
let server: TestServer;
let session: string;
let client: OpenAI;
beforeAll(async () => {
  models = await startModelServer();
  server = await startServer({ OPENAI_BASE_URL: `${models.url}/v1`, OPENAI_API_KEY: "clave" });
  const email = await new Browser(server.url).signUp("Admin");
  session = await (await post("/auth/signin", { email, password })).text();
  client = await clientOf(session);
  await vi.waitFor(async () => expect((await client.models.list()).data.length).toBeGreaterThan(0), {
    timeout: 10_000,
  });
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

async function clientOf(token: string): Promise<OpenAI> {
  const { token: apiKey } = (await (await post("/api/key", { name: "openai", scope: "write" }, token)).json()) as {
    token: string;
  };
  return new OpenAI({ apiKey, baseURL: `${server.url}/v1`, maxRetries: 0 });
}

const ask = (content: string) => ({ model: "gpt-4o", messages: [{ role: "user" as const, content }] });

describe("a client of OpenAI's", () => {
  it("lists the models that answer over the wire", async () => {
    const { data } = await client.models.list();
    const ids = data.map(({ id }) => id);
    expect(ids).toContain("gpt-4o");
    expect(ids.join()).not.toContain("local");
  });

  it("gets a whole answer", async () => {
    const answer = await client.chat.completions.create(ask("Hola"));
    expect(answer.choices[0]?.message).toEqual({
      role: "assistant",
      content: "Una respuesta **breve**. Con dos frases.",
    });
    expect(answer.choices[0]?.finish_reason).toBe("stop");
    expect(answer.usage?.total_tokens).toBeGreaterThan(0);
  });

  it("gets an answer as it is written, its use at the end", async () => {
    const stream = await client.chat.completions.create({
      ...ask("Una respuesta lenta"),
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    let chunks = 0;
    let tokens = 0;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      tokens = chunk.usage?.total_tokens ?? tokens;
      chunks++;
    }
    expect(text).toBe(longReply);
    expect(chunks).toBeGreaterThan(10);
    expect(tokens).toBeGreaterThan(0);
  });

  it("leaves, and what it has read till then is counted", async () => {
    const spent = async () => {
      const answer = await fetch(`${server.url}/v1/auth/session`, { headers: { Authorization: `Bearer ${session}` } });
      return ((await answer.json()) as { usage: { tokensThisMonth: number } }).usage.tokensThisMonth;
    };
    const before = await spent();
    const stream = await client.chat.completions.create({ ...ask("Una respuesta lenta"), stream: true });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    stream.controller.abort();
    await expect.poll(spent).toBeGreaterThan(before);
  });

  it("reads why something failed, in its own error", async () => {
    const failed = (request: Promise<unknown>) =>
      request.then(
        () => "no error",
        (error: { status: number; message: string }) => [error.status, error.message],
      );
    expect(await failed(client.chat.completions.create(ask("Un error 429")))).toEqual([
      502,
      expect.stringContaining("El proveedor está recibiendo demasiadas peticiones."),
    ]);
    expect(await failed(client.chat.completions.create({ ...ask("Hola"), model: "nada" }))).toEqual([
      404,
      expect.stringContaining("El modelo «nada» no existe aquí."),
    ]);
    expect(await failed(client.chat.completions.create({ ...ask("Hola"), messages: [] }))).toEqual([
      422,
      expect.stringContaining("Faltan los mensajes."),
    ]);
    const stranger = new OpenAI({ apiKey: "ter_nada", baseURL: `${server.url}/v1`, maxRetries: 0 });
    expect(await failed(stranger.models.list())).toEqual([401, expect.stringContaining("Necesitas iniciar sesión.")]);
  });

  it("stays within its person's plan", async () => {
    const admin = session;
    const email = await new Browser(server.url).signUp("Ana");
    const token = await (await post("/auth/signin", { email, password })).text();
    const ana = await clientOf(token);
    const { user } = (await (
      await fetch(`${server.url}/v1/auth/session`, { headers: { Authorization: `Bearer ${token}` } })
    ).json()) as { user: { id: string } };
    const plan = { userId: user.id, plan: "gratis", startsAt: new Date().toISOString(), messagesPerDay: 1 };
    expect((await post("/api/subscription", plan, admin)).status).toBe(201);
    await ana.chat.completions.create(ask("Hola"));
    await expect(ana.chat.completions.create(ask("Hola"))).rejects.toMatchObject({
      status: 429,
      type: "insufficient_quota",
      headers: expect.anything(),
    });
  });
});
