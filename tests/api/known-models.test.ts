import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { knownModel } from "../../app/replies/providers/known-models.server.ts";
import { type Account, type Api, openApi } from "../support/api.ts";
import { startUpstream } from "../support/doors.ts";
import { sqlite } from "../support/engines.ts";

describe("a well-known model", () => {
  it.each([
    ["anthropic", "claude-opus-5-5", 4],
    ["anthropic", "claude-opus-5", 5],
    ["anthropic", "claude-3-5-haiku-20241022", 0.8],
    ["anthropic", "claude-sonnet-4-0", 3],
    ["openai", "gpt-4o-mini-2024-07-18", 0.15],
    ["openai", "gpt-5.4-mini", 0.75],
    ["google", "gemini-2.5-pro", 1.25],
  ] as const)("has its own price: provider %s, model %s", (provider, externalId, price) => {
    expect(knownModel({ provider, externalId, baseUrl: null })?.inputPrice).toBe(price);
  });

  it.each([
    ["openai", "gpt-4o-audio-preview", null],
    ["openai", "gpt-99", null],
    ["anthropic", "claude-opus-5-5", "https://proxy.example/v1"],
    ["ollama", "gpt-4o", null],
  ] as const)("is none: %s %s at %s", (provider, externalId, baseUrl) => {
    expect(knownModel({ provider, externalId, baseUrl })).toBeUndefined();
  });
});

it("finds new models of a manually added server, disabled", async () => {
  const upstream = await startUpstream(() => ({
    type: "application/json",
    body: JSON.stringify({ data: [{ id: "uno" }, { id: "dos" }, { id: "texto-embed" }] }),
  }));
  const api = await openApi(sqlite);
  const { token } = await api.signUp("Admin");
  const json = {
    name: "Uno",
    provider: "openai-compatible",
    externalId: "uno",
    baseUrl: `${upstream.url}/v1`,
    apiKey: "k",
  };
  await api.call("POST", "/api/model", { token, json });
  expect((await api.call("POST", "/api/model/discover", { token })).body).toEqual({ found: 1, silent: [] });
  expect((await api.call("POST", "/api/model/discover", { token })).body).toEqual({ found: 0, silent: [] });
  const { items } = (await api.call("GET", "/api/model", { token })).body as {
    items: { externalId: string; enabled: boolean; hasKey: boolean }[];
  };
  expect(items.find(({ externalId }) => externalId === "dos")).toMatchObject({ enabled: false, hasKey: true });
  upstream.stop();
  const after = await api.call("POST", "/api/model/discover", { token });
  expect(after.body).toEqual({ found: 0, silent: [new URL(upstream.url).host] });
  await api.close();
});

describe("a model that is created", () => {
  let api: Api;
  let admin: Account;
  beforeAll(async () => {
    api = await openApi(sqlite);
    admin = await api.signUp("Admin");
  });
  afterAll(() => api.close());

  it("gets known window and prices unless given, and allows removal", async () => {
    const json = { name: "c", provider: "anthropic", externalId: "claude-sonnet-5" };
    const made = await api.call("POST", "/api/model", { token: admin.token, json });
    const known = {
      contextWindow: 1_000_000,
      maxOutputTokens: 8_192,
      inputPrice: 2,
      outputPrice: 10,
      cachedPrice: 0.2,
    };
    expect(made.body).toMatchObject(known);
    const { id } = made.body as { id: string };
    const changed = await api.call("PUT", `/api/model/${id}`, { token: admin.token, json });
    expect(changed.body).toMatchObject({ inputPrice: null, outputPrice: null, cachedPrice: null });
    const own = { ...json, contextWindow: 50_000, inputPrice: 7 };
    const other = await api.call("POST", "/api/model", { token: admin.token, json: own });
    expect(other.body).toMatchObject({ contextWindow: 50_000, inputPrice: 7, outputPrice: null });
  });
});
