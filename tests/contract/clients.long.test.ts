import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { LLMock } from "@copilotkit/aimock";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Program, send, startProgram } from "../support/doors.ts";
import { longReply, startModelServer } from "../support/model-server.ts";
import { startServer, type TestServer } from "../support/server.ts";

type Client = Record<"text" | "stream" | "tools" | "picture", (words: string) => Promise<string>> & {
  error(words: string): Promise<number>;
};
type ClientsAt = (url: string, key: string, model: string, picture: string) => Record<string, Client>;

const program = join(import.meta.dirname, "..", "tools", "clients.mjs");
const isInstalled = existsSync(join(import.meta.dirname, "..", "tools", "node_modules", "@openai", "agents"));
const { clientsAt } = isInstalled
  ? ((await import(pathToFileURL(program).href)) as { clientsAt: ClientsAt })
  : { clientsAt: undefined };

const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const brief = "Una respuesta **breve**. Con dos frases.";

let models: LLMock;
let server: TestServer;
let owner: Program;
/** The client of this name, asking a model whose server speaks as this provider does. */
let clientOf: (name: string, provider: string) => Client;
beforeAll(async () => {
  if (!clientsAt) throw new Error("Their packages are not here: node prepare.mjs tools.");
  models = await startModelServer();
  server = await startServer();
  owner = await startProgram(server.url);
  for (const provider of ["openai", "openai-compatible", "anthropic"]) {
    const about = {
      name: provider,
      provider,
      externalId: `de-${provider}`,
      baseUrl: `${models.url}/v1`,
      apiKey: "clave",
    };
    const made = await send(
      server.url,
      "/api/model",
      { ...about, usesTools: true, acceptsImages: true },
      owner.session,
    );
    expect(made.status).toBe(201);
  }
  clientOf = (name, provider) => {
    const found = clientsAt(server.url, owner.key, `de-${provider}`, picture)[name];
    if (!found) throw new Error(`there is no client «${name}»`);
    return found;
  };
});
afterAll(async () => {
  await server?.stop();
  await models?.stop();
});

const clients = [
  "openai, chat completions",
  "openai, responses",
  "@anthropic-ai/sdk",
  "ai, @ai-sdk/openai",
  "ai, @ai-sdk/anthropic",
  "ai, @ai-sdk/openai-compatible",
  "@openai/agents",
  "ollama",
  "langchain, chat completions",
  "langchain, responses",
];

describe.each(["openai", "openai-compatible", "anthropic"])("a model whose server speaks as %s does", (provider) => {
  it.each(clients)("answers %s", async (name) => {
    const client = clientOf(name, provider);
    expect(await client.text("Hola")).toBe(brief);
    expect(await client.stream("Una respuesta lenta")).toBe(longReply);
    expect(await client.tools("¿Y qué tiempo hace?")).toBe("En Vigo llueve.");
    expect(await client.picture("Mira esto")).toBe(brief);
    expect(await client.error("Un error 429")).toBe(429);
  });
});
