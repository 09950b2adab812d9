import type { LLMock } from "@copilotkit/aimock";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { limits } from "../../app/process/limits.ts";
import { Browser } from "../support/browser.ts";
import { longReply, startModelServer, startRecorder } from "../support/model-server.ts";
import { password } from "../support/password.ts";
import { startServer, type TestServer } from "../support/server.ts";

let models: LLMock;
let server: TestServer;
let session: string;
let client: OpenAI;
beforeAll(async () => {
  models = await startModelServer();
  server = await startServer({
    OPENAI_BASE_URL: `${models.url}/v1`,
    OPENAI_API_KEY: "clave",
    CORS_ORIGINS: "https://app.ejemplo.es",
  });
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

const call = (method: string, path: string, json?: object) =>
  fetch(`${server.url}/v1${path}`, {
    method,
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${session}` },
    ...(json && { body: JSON.stringify(json) }),
  });
const patch = (path: string, json: object) => call("PATCH", path, json);

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
      refusal: null,
    });
    expect(answer.choices[0]?.finish_reason).toBe("stop");
    expect(answer.usage?.total_tokens).toBeGreaterThan(0);
  });

  it("streams an answer with the token usage at the end", async () => {
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

  it("limits concurrent answers and frees each place afterwards (guard: underway)", async () => {
    const slow = () => client.chat.completions.create({ ...ask("Una respuesta lenta"), stream: true });
    const streams = await Promise.all(Array.from({ length: limits.repliesAtOnce }, slow));
    await expect(slow()).rejects.toMatchObject({ status: 429 });
    const [left, ...read] = streams;
    left?.controller.abort();
    await expect.poll(() => slow().then((stream) => stream.controller.abort(), String)).toBeUndefined();
    await Promise.all(read.map(async (stream) => Array.fromAsync(stream)));
    for (let n = 0; n < limits.repliesAtOnce; n++) {
      await expect(client.chat.completions.create(ask("Un error 401"))).rejects.toMatchObject({ status: 424 });
    }
    expect((await client.chat.completions.create(ask("Hola"))).choices).toHaveLength(1);
  });

  it.each([
    ["deactivated", (id: string) => patch(`/api/user/${id}`, { status: "inactive" })],
    ["deleted", (id: string) => call("DELETE", `/api/user/${id}`)],
    ["signed out everywhere", (id: string) => call("DELETE", `/api/user/${id}/sessions`)],
  ])("of an account that is %s is cut off in the middle of its answer (guard: whileSignedIn)", async (_what, end) => {
    const email = await new Browser(server.url).signUp("Berta");
    const token = await (await post("/auth/signin", { email, password })).text();
    const berta = await clientOf(token);
    const { user } = (await (
      await fetch(`${server.url}/v1/auth/session`, { headers: { Authorization: `Bearer ${token}` } })
    ).json()) as { user: { id: string } };
    const stream = await berta.chat.completions.create({ ...ask("Una respuesta lenta"), stream: true });
    let text = "";
    let ended = false;
    const reading = (async () => {
      for await (const chunk of stream) {
        text += chunk.choices[0]?.delta.content ?? "";
        if (text && !ended) {
          ended = true;
          expect((await end(user.id)).status).toBeLessThan(300);
        }
      }
    })();
    await reading.catch(() => {});
    expect(text.length).toBeGreaterThan(0);
    expect(text.length).toBeLessThan(longReply.length / 2);
    expect(server.printed()).not.toContain('"level":"error"');
  });

  it("reads why something failed, in its own error", async () => {
    const failed = (request: Promise<unknown>) =>
      request.then(
        () => "no error",
        (error: { status: number; message: string }) => [error.status, error.message],
      );
    expect(await failed(client.chat.completions.create(ask("Un error 429")))).toEqual([
      429,
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

  it("receives an OpenAI error when a begun answer breaks off", async () => {
    const stream = await client.chat.completions.create({ ...ask("Una respuesta cortada"), stream: true });
    let text = "";
    const reading = (async () => {
      for await (const { choices } of stream) text += choices[0]?.delta.content ?? "";
    })();
    await expect(reading).rejects.toThrow("La respuesta del modelo se cortó antes de terminar.");
    expect(text).toContain("Frase número 1");
  });

  it.each([
    ["error 401", 424],
    ["error 500", 502],
  ])("receives the right status for an upstream «%s», streamed too", async (said, status) => {
    await expect(client.chat.completions.create(ask(said))).rejects.toMatchObject({ status });
    await expect(client.chat.completions.create({ ...ask(said), stream: true })).rejects.toMatchObject({ status });
  });

  it("retrieves a model by name and gets model_not_found otherwise", async () => {
    expect(await client.models.retrieve("gpt-4o")).toMatchObject({ id: "gpt-4o", object: "model" });
    const missing = client.models.retrieve("nada");
    await expect(missing).rejects.toMatchObject({ status: 404, code: "model_not_found" });
  });

  it.each([
    ["completions", () => client.completions.create({ model: "gpt-4o", prompt: "Hola" })],
    ["embeddings", () => client.embeddings.create({ model: "gpt-4o", input: "Hola" })],
  ])("is told that there is no /v1/%s, and what there is", async (_path, request) => {
    await expect(request()).rejects.toMatchObject({ status: 404, message: expect.stringContaining("Aquí no ") });
  });

  it("has earlier tool results and the response format passed on", async () => {
    const recorder = await startRecorder(models.url);
    onTestFinished(() => recorder.stop());
    const json = {
      name: "Con forma",
      provider: "openai-compatible",
      externalId: "forma",
      baseUrl: `${recorder.url}/v1`,
    };
    await post("/api/model", json, session);
    const schema = { type: "object", properties: { si: { type: "boolean" } } };
    await client.chat.completions.create({
      model: "forma",
      messages: [
        { role: "user", content: "¿Llueve?" },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c1", type: "function", function: { name: "tiempo", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: "c1", content: "Llueve a mares" },
      ],
      response_format: { type: "json_schema", json_schema: { name: "lluvia", schema } },
    });
    const sent = JSON.parse(recorder.bodies.at(-1) ?? "{}");
    expect(sent.messages.map(({ role, content }: { role: string; content: string }) => [role, content])).toEqual([
      ["user", "¿Llueve?\n\nResultado de la herramienta «tiempo»:\nLlueve a mares"],
    ]);
    expect(sent.response_format).toMatchObject({ type: "json_schema", json_schema: { name: "lluvia", schema } });
    const wrong = { ...ask("Hola"), response_format: { type: "yaml" } } as never;
    await expect(client.chat.completions.create(wrong)).rejects.toMatchObject({ status: 422 });
  });

  it("is allowed cross-origin only from origins named in the environment", async () => {
    const asks = (origin: string) =>
      fetch(`${server.url}/v1/chat/completions`, {
        method: "OPTIONS",
        headers: { Origin: origin, "Access-Control-Request-Method": "POST" },
      });
    const allowed = (response: Response) => response.headers.get("Access-Control-Allow-Origin");
    expect(allowed(await asks("https://app.ejemplo.es"))).toBe("https://app.ejemplo.es");
    expect(allowed(await asks("https://otra.ejemplo.es"))).toBeNull();
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
    expect(await why(look("https://ejemplo.es/foto.png"))).toContain("imágenes se envían dentro: data:image");
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
