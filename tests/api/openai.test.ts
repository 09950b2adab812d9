import type { LLMock } from "@copilotkit/aimock";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { password } from "../support/api.ts";
import { Browser } from "../support/browser.ts";
import { longReply, startModelServer, startRecorder } from "../support/model-server.ts";
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

  it("shows a model a picture, and says why it can't", async () => {
    const { default: sharp } = await import("sharp");
    const background = { r: 200, g: 30, b: 30 };
    const png = await sharp({ create: { width: 3000, height: 20, channels: 3, background } })
      .png()
      .toBuffer();
    const recorder = await startRecorder(models.url);
    onTestFinished(() => recorder.stop());
    const json = { name: "Con ojos", provider: "openai-compatible", externalId: "ojos", baseUrl: `${recorder.url}/v1` };
    await post("/api/model", { ...json, acceptsImages: true }, session);
    const look = (url: string, model = "ojos") =>
      client.chat.completions.create({
        model,
        messages: [
          {
            role: "user",
            content: [
              { type: "text", text: "¿Qué ves?" },
              { type: "image_url", image_url: { url } },
            ],
          },
        ],
      });
    await look(`data:image/png;base64,${png.toString("base64")}`);
    const [, sent = ""] = /data:image\/jpeg;base64,([\w+/=]+)/.exec(recorder.bodies.at(-1) ?? "") ?? [];
    expect((await sharp(Buffer.from(sent, "base64")).metadata()).width).toBe(1568);
    const why = (request: Promise<unknown>) =>
      request.then(
        () => "",
        (error: { message: string }) => error.message,
      );
    expect(await why(look("https://ejemplo.es/foto.png"))).toContain("incluidas como data:image");
    expect(await why(look("data:image/png;base64,AAAA"))).toContain("Una imagen es una imagen dañada");
    await post("/api/model", { ...json, name: "Sin ojos", externalId: "ciego" }, session);
    expect(await why(look(`data:image/png;base64,${png.toString("base64")}`, "ciego"))).toContain("no ve imágenes");
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
