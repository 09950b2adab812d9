import type { LLMock } from "@copilotkit/aimock";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Browser } from "../support/browser.ts";
import { startModelServer } from "../support/model-server.ts";
import { password } from "../support/password.ts";
import { startServer, type TestServer } from "../support/server.ts";

let models: LLMock;
let server: TestServer;
let admin: Keys;
let ana: Keys;
let browser: Browser;
type Keys = { write: string; read: string };

beforeAll(async () => {
  models = await startModelServer();
  server = await startServer({ OPENAI_BASE_URL: `${models.url}/v1`, OPENAI_API_KEY: "clave" });
  admin = await keysOf(await new Browser(server.url).signUp("Admin"));
  browser = new Browser(server.url);
  ana = await keysOf(await browser.signUp("Ana"));
  await browser.submit("/conversation/project/crear", "/conversation/project/crear", { name: "Obras de casa" });
  await browser.upload([new File(["La caldera se revisa cada dos años."], "caldera.txt", { type: "text/plain" })]);
});
afterAll(async () => {
  await server.stop();
  await models.stop();
});

async function keysOf(email: string): Promise<Keys> {
  const session = await (await post("/auth/signin", { email, password })).text();
  const key = async (scope: string) =>
    ((await (await post("/api/key", { name: scope, scope }, session)).json()) as { token: string }).token;
  return { write: await key("write"), read: await key("read") };
}

const post = (path: string, json: object, token = "") =>
  fetch(`${server.url}/v1${path}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
    body: JSON.stringify(json),
  });

async function connect(token: string, mode: "auto" | "legacy", url = server.url): Promise<Client> {
  const client = new Client({ name: "pruebas", version: "1" }, { versionNegotiation: { mode } });
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }));
  return client;
}

describe.each(["auto", "legacy"] as const)("the official MCP client, speaking %s", (mode) => {
  let client: Client;
  beforeEach(async () => {
    client = await connect(ana.write, mode);
  });
  afterEach(() => client.close());

  const use = async (name: string, given: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: given });
    const [first] = content;
    if (first?.type !== "text") throw new Error(JSON.stringify(content));
    return { text: first.text, isError: isError === true };
  };

  it("lists tools with descriptions and read-only hints", async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).toSorted()).toEqual([
      "ask",
      "list_chats",
      "list_documents",
      "list_models",
      "list_projects",
      "read_chat",
      "read_document",
      "search",
    ]);
    for (const { name, description, annotations, inputSchema } of tools) {
      expect(description, name).toMatch(/^\p{Lu}.*\.$/u);
      expect(annotations?.readOnlyHint, name).toBe(name !== "ask");
      expect(inputSchema.type, name).toBe("object");
    }
  });

  it("asks a model, continues the chat, finds and reads it", async () => {
    const first = await use("ask", { message: `Hola desde el programa ${mode}`, model: "gpt-4o" });
    expect(first.text).toContain("Una respuesta **breve**. Con dos frases.");
    const [, chat = ""] = /chat ([\w-]{36})/.exec(first.text) ?? [];
    await use("ask", { message: "Y otra cosa", chat });
    const read = await use("read_chat", { chat });
    expect(read.text.match(/## Persona/g)).toHaveLength(2);
    expect(read.text).toContain("Una respuesta **breve**.");
    expect((await use("search", { query: `programa ${mode}` })).text).toContain(chat);
    expect((await use("list_chats")).text).toContain(chat);
    expect(await browser.html(`/conversation/chat/${chat}`)).toContain("Y otra cosa");
  });

  it("is told that a long reply grows", async () => {
    const seen: number[] = [];
    const request = { name: "ask", arguments: { message: "Una respuesta lenta", model: "gpt-4o" } };
    await client.callTool(request, { onprogress: ({ progress }) => seen.push(progress) });
    expect(seen.length).toBeGreaterThan(5);
    expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  });

  it("reads projects and documents", async () => {
    expect((await use("list_projects")).text).toContain("«Obras de casa»");
    const [, document = ""] = /documento ([\w-]{36})/.exec((await use("list_documents")).text) ?? [];
    expect((await use("read_document", { document })).text).toContain("[0] La caldera se revisa cada dos años.");
    expect((await use("search", { query: "caldera" })).text).toContain(document);
  });

  it("is told in Spanish what can't be done", async () => {
    const nowhere = "00000000-0000-7000-8000-000000000000";
    const wrong: [string, Record<string, unknown>, string][] = [
      ["read_chat", { chat: nowhere }, "No existe o no puedes verlo."],
      ["read_document", { document: nowhere }, "No existe o no puedes verlo."],
      ["ask", { message: "Hola", model: "ninguno" }, "No hay ningún modelo «ninguno»"],
      ["ask", { message: "error 401", model: "gpt-4o" }, "rechazó la clave"],
      ["search", { query: " " }, "Falta qué buscar."],
    ];
    for (const [name, given, sentence] of wrong) {
      expect(await use(name, given), name).toEqual({ text: expect.stringContaining(sentence), isError: true });
    }
  });
});

describe("a program's key", () => {
  it("that only reads lets nothing be asked", async () => {
    const client = await connect(ana.read, "auto");
    const { content } = await client.callTool({ name: "list_projects", arguments: {} });
    expect(JSON.stringify(content)).toContain("Obras de casa");
    const refused = await client.callTool({ name: "ask", arguments: { message: "Hola" } });
    expect(refused).toMatchObject({ isError: true, content: [{ text: "Esta clave solo puede leer." }] });
    await client.close();
  });

  it("of an administrator shows the administrator's own, and nobody else's", async () => {
    const chat = (await browser.say("Cosas de Ana")).split("/").at(-1) ?? "";
    const client = await connect(admin.write, "auto");
    const use = (name: string, given: Record<string, unknown>) => client.callTool({ name, arguments: given });
    expect(JSON.stringify(await use("list_chats", {}))).not.toContain(chat);
    expect(JSON.stringify(await use("list_documents", {}))).not.toContain("caldera");
    expect(await use("read_chat", { chat })).toMatchObject({ isError: true });
    expect(await use("ask", { message: "Hola", chat })).toMatchObject({ isError: true });
    await client.close();
  });

  it("is checked first; oversized or invalid bodies are refused", async () => {
    const send = (token: string, body: BodyInit) =>
      fetch(`${server.url}/mcp`, {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          Accept: "application/json, text/event-stream",
          ...(token && { Authorization: `Bearer ${token}` }),
        },
        body,
      });
    expect((await send("", "{}")).status).toBe(401);
    expect((await send("ter_falsa", "{}")).status).toBe(401);
    expect((await send(ana.read, "x".repeat(300_000))).status).toBe(413);
    expect((await send(ana.read, "{")).status).toBe(400);
    expect((await fetch(`${server.url}/mcp`, { headers: { Authorization: `Bearer ${ana.read}` } })).status).toBe(405);
  });
});

it("reaches the API through pages on a separate machine", async () => {
  const front = await startServer({ API_BASE_URL: `${server.url}/v1` });
  const client = await connect(ana.read, "auto", front.url);
  const { content } = await client.callTool({ name: "list_projects", arguments: {} });
  expect(JSON.stringify(content)).toContain("Obras de casa");
  await client.close();
  await front.stop();
});
