import { v7 as newId } from "uuid";
import type { Config } from "../config.server.ts";
import type { Db } from "../db/connection.server.ts";
import type { ModelRow } from "../db/tables.ts";
import type { Log } from "../log.server.ts";
import { encrypt } from "../secrets.server.ts";
import { fetchModel } from "./model-fetch.server.ts";

type Found = Pick<
  ModelRow,
  "provider" | "externalId" | "name" | "baseUrl" | "apiKey" | "acceptsImages" | "contextWindow"
>;
type Needs = { db: Db; log: Log; modelKey: Buffer };

/** Where models may be, as the environment says. */
export type Providers = Pick<Config, "openai" | "anthropic" | "google" | "ollamaBaseUrl">;

const patience = 5_000;

/**
 * Makes the local assistant, and the models of the providers that the environment has keys for and of Ollama where it runs
 * (product.md §8). What exists already stays as the admin left it. The first one found takes over as default from the local one.
 * `again`: asks also the providers that some were made of before. Answers how many are new.
 */
export async function makeFirstModels(
  { db, log, modelKey }: Needs,
  config: Providers,
  { again = false } = {},
): Promise<number> {
  const existing = await db.selectFrom("models").select(["provider", "externalId", "isDefault"]).execute();
  const has = (provider: string) => existing.some((row) => row.provider === provider);
  const ask = (provider: string) => again || !has(provider);
  if (!has("local")) await addModel(db, modelKey, localModel, { position: 1000, isDefault: existing.length === 0 });

  const asked = [
    config.openai.apiKey &&
      ask("openai") &&
      ask("openai-compatible") &&
      openAi(config.openai.apiKey, config.openai.baseUrl),
    config.anthropic.apiKey && ask("anthropic") && anthropic(config.anthropic.apiKey, config.anthropic.baseUrl),
    config.google.apiKey && ask("google") && google(config.google.apiKey),
    ollama(config.ollamaBaseUrl),
  ].filter((promise) => typeof promise === "object");
  const answers = await Promise.allSettled(asked);
  const found = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  for (const answer of answers) {
    if (answer.status === "rejected") log.warn({ err: answer.reason as Error }, "un proveedor de modelos no contesta");
  }
  const fresh = found.filter(
    (model) => !existing.some((row) => row.provider === model.provider && row.externalId === model.externalId),
  );
  for (const [index, model] of fresh.entries()) {
    await addModel(db, modelKey, model, { position: existing.length + index, isDefault: index === 0 });
  }
  if (fresh.length > 0) log.info({ models: fresh.map(({ name }) => name) }, "modelos encontrados");
  return fresh.length;
}

const localModel: Found = {
  provider: "local",
  externalId: "local",
  name: "Asistente local",
  baseUrl: null,
  apiKey: null,
  acceptsImages: 0,
  contextWindow: 32_768,
};

async function addModel(
  db: Db,
  modelKey: Buffer,
  found: Found,
  { position, isDefault }: { position: number; isDefault: boolean },
): Promise<void> {
  const now = Date.now();
  const id = newId();
  await db.transaction().execute(async (trx) => {
    if (isDefault) {
      // Only the built-in one gives way: a default that the admin chose stays.
      const chosen = await trx
        .selectFrom("models")
        .where("isDefault", "=", 1)
        .where("provider", "!=", "local")
        .select("id")
        .executeTakeFirst();
      if (chosen) isDefault = false;
      else await trx.updateTable("models").set({ isDefault: 0 }).execute();
    }
    await trx
      .insertInto("models")
      .values({
        id,
        createdAt: now,
        updatedAt: now,
        ...found,
        apiKey: found.apiKey && encrypt(found.apiKey, modelKey, id),
        maxOutputTokens: 8_192,
        temperature: null,
        systemPrompt: "",
        inputPrice: null,
        outputPrice: null,
        enabled: 1,
        isDefault: isDefault ? 1 : 0,
        position,
      })
      .execute();
  });
}

async function openAi(apiKey: string, baseUrl: string | undefined): Promise<Found[]> {
  const url = baseUrl ?? "https://api.openai.com/v1";
  const { data } = await askFor<{ data: { id: string }[] }>(`${url}/models`, { Authorization: `Bearer ${apiKey}` });
  const chat = baseUrl
    ? /^(?!.*(embed|whisper|tts|rerank))/i
    : /^(gpt|o\d|chatgpt)(?!.*(audio|realtime|image|tts|transcribe|search|instruct|embed))/;
  return data
    .filter(({ id }) => chat.test(id))
    .map(({ id }) => ({
      provider: baseUrl ? "openai-compatible" : "openai",
      externalId: id,
      name: id,
      baseUrl: baseUrl ?? null,
      apiKey,
      acceptsImages: baseUrl ? sees(id) : 1,
      contextWindow: baseUrl ? 32_768 : 128_000,
    }));
}

async function anthropic(apiKey: string, baseUrl: string | undefined): Promise<Found[]> {
  const url = baseUrl ?? "https://api.anthropic.com/v1";
  const { data } = await askFor<{ data: { id: string; display_name?: string }[] }>(`${url}/models`, {
    "x-api-key": apiKey,
    "anthropic-version": "2023-06-01",
  });
  return data.map(({ id, display_name }) => ({
    provider: "anthropic",
    externalId: id,
    name: display_name ?? id,
    baseUrl: baseUrl ?? null,
    apiKey,
    acceptsImages: 1,
    contextWindow: 200_000,
  }));
}

async function google(apiKey: string): Promise<Found[]> {
  type Model = { name: string; displayName?: string; inputTokenLimit?: number; supportedGenerationMethods?: string[] };
  const { models } = await askFor<{ models: Model[] }>(
    "https://generativelanguage.googleapis.com/v1beta/models?pageSize=200",
    {
      "x-goog-api-key": apiKey,
    },
  );
  return models
    .filter(
      ({ name, supportedGenerationMethods }) =>
        name.includes("gemini") && supportedGenerationMethods?.includes("generateContent"),
    )
    .map(({ name, displayName, inputTokenLimit }) => ({
      provider: "google",
      externalId: name.replace("models/", ""),
      name: displayName ?? name,
      baseUrl: null,
      apiKey,
      acceptsImages: 1,
      contextWindow: inputTokenLimit ?? 1_000_000,
    }));
}

async function ollama(baseUrl: string): Promise<Found[]> {
  try {
    const { models } = await askFor<{ models: { name: string }[] }>(`${baseUrl}/api/tags`, {});
    return models
      .filter(({ name }) => !/embed/i.test(name))
      .map(({ name }) => ({
        provider: "ollama",
        externalId: name,
        name,
        baseUrl,
        apiKey: null,
        acceptsImages: sees(name),
        contextWindow: 8_192,
      }));
  } catch {
    // Not running: most installations have none.
    return [];
  }
}

/** Whether a model of that name takes images: these lists do not say. An admin may know better. */
const sees = (name: string) =>
  /gpt-(4o|4\.1|4-turbo|[5-9])|claude|gemini|gemma-?[3-9]|llava|pixtral|vision|[-.\d]vl\b|minicpm-v|internvl|moondream|llama-?[4-9]/i.test(
    name,
  )
    ? 1
    : 0;

async function askFor<Answer>(url: string, headers: Record<string, string>): Promise<Answer> {
  const response = await fetchModel(url, { headers, signal: AbortSignal.timeout(patience) });
  if (!response.ok) throw new Error(`${new URL(url).host} answered ${response.status}`);
  return (await response.json()) as Answer;
}
