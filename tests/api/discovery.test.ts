import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished, vi } from "vitest";
import { searchingModels } from "../../app/api/models/nightly-search.server.ts";
import { createLog } from "../../app/process/log.server.ts";
import { lookForModels } from "../../app/replies/providers/discover.server.ts";
import type { Providers } from "../../app/replies/providers/model-lists.server.ts";
import { sqlite } from "../support/engines.ts";

type Handle = (path: string, body: string) => object | undefined;

/** A server that answers paths with JSON, and 404 where there is none. */
async function serve(handle: Handle, port = 0) {
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    let body = "";
    for await (const part of request) body += part;
    const answer = handle(request.url ?? "", body);
    response.writeHead(answer ? 200 : 404, { "Content-Type": "application/json" }).end(JSON.stringify(answer ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

const nowhere = "http://127.0.0.1:9";
const none: Providers = {
  openai: { apiKey: undefined, baseUrl: undefined },
  anthropic: { apiKey: undefined, baseUrl: undefined },
  google: { apiKey: undefined },
  ollamaBaseUrl: nowhere,
};

async function openDb() {
  const database = await sqlite.open();
  onTestFinished(() => database.drop());
  return database.db;
}

async function look(providers: Partial<Providers>) {
  const db = await openDb();
  const needs = { db, engine: "sqlite" as const, log: createLog("silent"), modelKey: Buffer.alloc(32) };
  const discovery = lookForModels(needs, { ...none, ...providers });
  onTestFinished(() => discovery.stop());
  await discovery.ready;
  return () =>
    db
      .selectFrom("models")
      .where("provider", "!=", "local")
      .select([
        "provider",
        "name",
        "externalId",
        "contextWindow",
        "maxOutputTokens",
        "isDefault",
        "usesTools",
        "acceptsImages",
      ])
      .execute();
}

it("takes the context window that each server reports", async () => {
  const { url } = await serve((path) =>
    path === "/v1/models"
      ? {
          data: [
            { id: "/models/gemma-3.gguf", meta: { n_ctx: 4096, n_ctx_train: 131_072 } },
            { id: "vieja", meta: { n_ctx_train: 131_072 } },
            { id: "vllm", max_model_len: 16_384 },
            { id: "abierta", context_length: 200_000 },
            { id: "callada" },
            { id: "nomic-embed-text" },
            ...["sora-2", "gpt-realtime", "gpt-image-1", "gpt-4o-transcribe", "jina-clip-v2"].map((id) => ({ id })),
          ],
        }
      : path === "/props"
        ? { default_generation_settings: { n_ctx: 2048 } }
        : undefined,
  );
  const models = await look({ openai: { apiKey: undefined, baseUrl: `${url}/v1` } });
  expect(await models()).toEqual([
    expect.objectContaining({
      name: "gemma-3",
      externalId: "/models/gemma-3.gguf",
      contextWindow: 4096,
      maxOutputTokens: 2048,
      isDefault: 1,
    }),
    expect.objectContaining({ name: "vieja", contextWindow: 2048 }),
    expect.objectContaining({ name: "vllm", contextWindow: 16_384, maxOutputTokens: 8192 }),
    expect.objectContaining({ name: "abierta", contextWindow: 200_000 }),
    expect.objectContaining({ name: "callada", contextWindow: 32_768 }),
  ]);
});

it("reads lists that are not as they should be", async () => {
  const odd = [
    null,
    7,
    {},
    { id: "" },
    { id: "una", max_model_len: -1 },
    { id: "una" },
    "dos",
    { name: "tres", context_length: 1 },
  ];
  const { url } = await serve((path) =>
    path === "/v1/models"
      ? [...odd, { id: "cuatro", context_length: 2 ** 53 }, { id: "cinco", context_window: "8192" }]
      : undefined,
  );
  const models = await look({ openai: { apiKey: undefined, baseUrl: `${url}/v1/chat/completions` } });
  expect((await models()).map(({ name, contextWindow }) => [name, contextWindow])).toEqual([
    ["una", 32_768],
    ["dos", 32_768],
    ["tres", 32_768],
    ["cuatro", 32_768],
    ["cinco", 8192],
  ]);
});

it("takes each model's abilities from the servers that report them", async () => {
  const { url } = await serve((path, body) => {
    if (path === "/api/tags")
      return { models: [{ name: "a" }, { name: "b" }, { name: "vieja" }, { name: "vectores" }] };
    if (path === "/api/show") {
      const capabilities = body.includes('"a"')
        ? ["completion", "tools", "vision"]
        : body.includes('"b"')
          ? ["completion"]
          : body.includes("vectores")
            ? ["embedding"]
            : undefined;
      return { capabilities };
    }
    if (path === "/v1/models") {
      return {
        data: [
          { id: "router", supported_parameters: ["tools"], architecture: { input_modalities: ["text", "image"] } },
          { id: "router-sin", supported_parameters: ["temperature"], architecture: { input_modalities: ["text"] } },
          { id: "mistral", capabilities: { function_calling: false, vision: true } },
          { id: "callada" },
        ],
      };
    }
    return undefined;
  });
  const models = await look({ ollamaBaseUrl: url, openai: { apiKey: undefined, baseUrl: `${url}/v1` } });
  const abilities = (await models()).map(({ name, usesTools, acceptsImages }) => [name, usesTools, acceptsImages]);
  expect(abilities.sort()).toEqual([
    ["a", 1, 1],
    ["b", 0, 0],
    ["callada", 1, 0],
    ["mistral", 0, 1],
    ["router", 1, 1],
    ["router-sin", 0, 0],
    ["vieja", 1, 0],
  ]);
});

it("takes Ollama's configured context window, or its default", async () => {
  const { url } = await serve((path, body) =>
    path === "/api/tags"
      ? { models: [{ name: "gemma3:27b" }, { name: "qwen3" }] }
      : { parameters: body.includes("gemma3") ? "temperature 1\nnum_ctx                        16384" : "top_k 64" },
  );
  const models = await look({ ollamaBaseUrl: url });
  expect(await models()).toEqual([
    expect.objectContaining({ provider: "ollama", name: "gemma3:27b", contextWindow: 16_384 }),
    expect.objectContaining({ provider: "ollama", name: "qwen3", contextWindow: 4096 }),
  ]);
});

it("finds a server that starts later", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const taken = await serve(() => undefined);
  const { port } = taken.server.address() as AddressInfo;
  await new Promise((resolve) => taken.server.close(resolve));
  const models = await look({ openai: { apiKey: undefined, baseUrl: `${taken.url}/v1` } });
  expect(await models()).toEqual([]);
  await serve(() => ({ data: [{ id: "tardona" }] }), port);
  await vi.advanceTimersByTimeAsync(60_000);
  vi.useRealTimers();
  await vi.waitFor(async () => expect(await models()).toEqual([expect.objectContaining({ name: "tardona" })]), 10_000);
});

it("searches nightly for new models and leaves them disabled", async () => {
  const names = ["uno"];
  const { url } = await serve((path) => (path === "/v1/models" ? { data: names.map((id) => ({ id })) } : undefined));
  const database = await sqlite.open();
  onTestFinished(() => database.drop());
  const { db } = database;
  const config = { ...none, openai: { apiKey: undefined, baseUrl: `${url}/v1` } };
  const needs = { db, engine: "sqlite" as const, log: createLog("silent"), modelKey: Buffer.alloc(32) };
  const first = lookForModels(needs, config);
  await first.ready;
  await first.stop();
  names.push("dos");
  let now = Date.parse("2026-11-27T10:00:00Z");
  let data = "{}";
  const { work } = searchingModels({ ...needs, config: config as never, clock: { now: () => now } as never });
  const remember = async (said: string) => {
    data = said;
  };
  const run = async (at: string) => {
    now = Date.parse(at);
    await work({ data, remember } as never);
    return (
      await db
        .selectFrom("models")
        .where("provider", "!=", "local")
        .select(["externalId", "enabled", "isDefault"])
        .execute()
    ).map(({ externalId, enabled, isDefault }) => [externalId, enabled, isDefault].join(" "));
  };
  expect(await run("2026-11-27T10:00:00Z")).toEqual(["uno 1 1"]);
  expect(await run("2026-11-28T03:00:00Z")).toEqual(["uno 1 1"]);
  expect(await run("2026-11-28T04:10:00Z")).toEqual(["uno 1 1", "dos 0 0"]);
  names.push("tres");
  expect(await run("2026-11-28T05:10:00Z")).toHaveLength(2);
  expect(await run("2026-11-29T04:10:00Z")).toEqual(["uno 1 1", "dos 0 0", "tres 0 0"]);
});
