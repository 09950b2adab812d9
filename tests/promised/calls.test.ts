import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readChunks } from "../../app/http/chunk-stream.server.ts";
import { firstChunk } from "../../app/routes/conversation/stream/chunks.server.ts";
import { options } from "../../app/ui/navigation/socket.ts";
import { type Account, type Api, openApi, parseChunks, refreshOf } from "../support/api.ts";
import { sqlite } from "../support/engines.ts";
import { password } from "../support/password.ts";

let api: Api;
let admin: Account;
let chatId: string;
let messageId: string;
beforeAll(async () => {
  api = await openApi(sqlite);
  admin = await api.signUp("Admin");
  const [start] = await api.converse(admin.token, { content: "Hola" });
  if (start?.type !== "start") throw new Error("no start");
  ({ chatId, messageId } = start);
});
afterAll(() => api.close());

const call = (method: string, path: string, json?: object, token = admin.token) =>
  api.call(method, path, { token, json });
const email = () => `${crypto.randomUUID()}@ejemplo.es`;

/** The calls whose bodies are small: what is sent, and what comes of it. */
describe("calls", () => {
  it("GET /auth/session: the session", async () => {
    const { status, body } = await call("GET", "/auth/session");
    expect([status, Object.keys(body)]).toEqual([
      200,
      ["user", "subscription", "limits", "groups", "usage", "expiresAt", "owesTerms", "owesSecondStep"],
    ]);
  });

  it("POST /auth/signup, /auth/signin: the access token, as text", async () => {
    const person = { name: "Ana", email: email(), password };
    for (const [path, json] of [
      ["/auth/signup", person],
      ["/auth/signin", { email: person.email, password }],
    ] as const) {
      const answer = await api.call("POST", path, { json });
      expect(answer.headers.get("Content-Type")).toMatch(/^text\/plain/);
      expect((await call("GET", "/auth/session", undefined, answer.text)).status).toBe(200);
    }
  });

  it("POST /auth/refresh returns a new token, which POST /auth/signout ends", async () => {
    const answer = await api.call("POST", "/auth/signup", { json: { name: "Ana", email: email(), password } });
    const refreshed = await api.call("POST", "/auth/refresh", {
      headers: { Cookie: `refresh=${encodeURIComponent(refreshOf(answer.headers))}` },
    });
    expect(refreshed.headers.get("Content-Type")).toMatch(/^text\/plain/);
    expect((await call("POST", "/auth/signout", undefined, refreshed.text)).status).toBe(204);
    expect((await call("GET", "/auth/session", undefined, refreshed.text)).status).toBe(401);
  });

  const slug = `pagina-${crypto.randomUUID()}`;
  const since = "2026-01-01T00:00:00.000Z";
  /** POST, GET list, GET one, change by its method, DELETE. */
  it.each<[noun: string, method: "PATCH" | "PUT", body: () => object, change: () => object]>([
    ["chat", "PATCH", () => ({ title: "Una" }), () => ({ title: "Otra" })],
    ["message", "PATCH", () => ({ chatId, content: "Uno" }), () => ({ content: "Otro" })],
    ["model", "PUT", () => model, () => ({ ...model, name: "Otro" })],
    ["page", "PUT", () => ({ slug, title: "Una" }), () => ({ slug, title: "Otra" })],
    ["project", "PUT", () => ({ name: "Uno" }), () => ({ name: "Otro" })],
    ["subscription", "PUT", () => plan(), () => ({ ...plan(), plan: "equipo" })],
    ["summary", "PUT", () => summary(), () => ({ ...summary(), content: "Otro" })],
    ["training", "PATCH", () => ({ title: "Uno", kind: "example", content: "x" }), () => ({ title: "Otro" })],
    ["user", "PATCH", () => ({ name: "Una", email: email(), password }), () => ({ name: "Otra" })],
  ])("POST, GET, GET {id}, %s, %s, DELETE {id}", async (noun, method, body, change) => {
    const made = await call("POST", `/api/${noun}`, body());
    expect([made.status, made.text]).toEqual([201, made.text]);
    const { id } = made.body as { id: string };
    const list = await call("GET", `/api/${noun}?limit=100`);
    expect(Object.keys(list.body).sort()).toEqual(["items", "nextCursor", "total", "totalIsMinimum"]);
    expect(list.text).toContain(id);
    expect((await call("GET", `/api/${noun}/${id}`)).status).toBe(200);
    expect((await call(method, `/api/${noun}/${id}`, change())).status).toBe(200);
    expect((await call("DELETE", `/api/${noun}/${id}`)).status).toBe(204);
  });

  const model = { name: "Uno", provider: "ollama", externalId: "m", enabled: false };
  const plan = () => ({ userId: admin.id, plan: "pro", startsAt: since });
  const summary = () => ({ chatId, upToMessageId: messageId, content: "Uno" });

  it("creates and updates ignore unknown query parameters", async () => {
    const made = await call("POST", "/api/project?origen=importado", { name: "Uno" });
    const { id } = made.body as { id: string };
    expect([made.status, (await call("PUT", `/api/project/${id}?x=1`, { name: "Dos" })).status]).toEqual([201, 200]);
  });

  it("lists take objects of their query as JSON", async () => {
    const query = new URLSearchParams({
      filter: JSON.stringify({ pinned: false }),
      sort: JSON.stringify({ title: "asc" }),
    });
    expect((await call("GET", `/api/chat?${query}`)).status).toBe(200);
  });

  it.each(["contact", "support"])("POST /api/email/%s, query parameters allowed", async (kind) => {
    const json = { name: "Ana", email: "ana@ejemplo.es", message: "Hola" };
    expect((await api.call("POST", `/api/email/${kind}?desde=portada`, { json })).status).toBeLessThan(300);
  });

  it("POST /api/file/uploads: files, temporary and userId; GET /api/file: the list", async () => {
    const sent = await api.upload(admin.token, [new File(["Hola"], "hola.txt")], {
      temporary: "true",
      userId: admin.id,
    });
    expect(sent.status).toBe(201);
    const { items } = sent.body as { items: { id: string }[] };
    expect((await call("GET", `/api/file/${items[0]?.id}`)).status).toBe(200);
    expect((await call("GET", "/api/file?limit=10")).status).toBe(200);
  });

  it("GET /api/dashboard/initialize: aside.chats and aside.projects", async () => {
    const { body } = await call("GET", "/api/dashboard/initialize");
    const { aside } = body as { aside: Record<string, unknown> };
    expect(Object.keys(aside).sort()).toEqual(expect.arrayContaining(["chats", "projects"]));
  });

  it("POST /api/intelligence/conversation streams JSON objects separated by blank lines", async () => {
    const answer = await call("POST", "/api/intelligence/conversation", { content: "Hola" });
    const parts = answer.text.split("\n\n").filter(Boolean);
    expect(parts.length).toBeGreaterThan(2);
    expect(parseChunks(answer.text).map(({ type }) => type)).toEqual(expect.arrayContaining(["start", "text", "end"]));
  });
});

describe("the stream of a reply", () => {
  const bodyOf = (text: string) => new Response(text).body as ReadableStream<Uint8Array>;

  it("passes on valid JSON chunks and skips the rest", async () => {
    const text = '{"type":"text","at":0,"text":"a"}\n\n{"type":\n\nnada\n\n{"type":"text","at":1,"text":"b"}\n\n';
    const chunks = [];
    for await (const read of readChunks(bodyOf(text))) chunks.push(...read);
    expect(chunks.map((chunk) => chunk.type === "text" && chunk.text)).toEqual(["a", "b"]);
  });

  it("joins pieces, also those cut within a character", async () => {
    const bytes = new TextEncoder().encode('{"type":"text","at":0,"text":"año"}\n\n');
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    const chunks = [];
    for await (const read of readChunks(body)) chunks.push(...read);
    expect(chunks).toEqual([{ type: "text", at: 0, text: "año" }]);
  });

  it("throws the error of a failed response or missing body", async () => {
    const failed = new Response('{"status":422,"title":"x","detail":"Falta el texto."}', { status: 422 });
    await expect(firstChunk(Promise.resolve(failed))).rejects.toMatchObject({ body: { detail: "Falta el texto." } });
    await expect(firstChunk(Promise.resolve(new Response(null)))).rejects.toThrow("No response body reader available");
  });
});

describe("the socket", () => {
  it("is a websocket at /engine.io that comes back for ever", () => {
    expect(options).toEqual({
      path: "/engine.io",
      transports: ["websocket"],
      reconnectionAttempts: Number.POSITIVE_INFINITY,
      reconnectionDelay: 1000,
      reconnectionDelayMax: 5000,
      randomizationFactor: 0.5,
      timeout: 20_000,
    });
  });
});
