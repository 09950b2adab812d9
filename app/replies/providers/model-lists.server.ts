import type { ModelRow } from "../../db/tables.ts";
import type { Config } from "../../process/config.server.ts";
import { fetchModel } from "./model-fetch.server.ts";

/** What a provider says of one of its models. */
export type ListedModel = Pick<
  ModelRow,
  "provider" | "externalId" | "name" | "baseUrl" | "apiKey" | "acceptsImages" | "contextWindow"
>;

/** The settings that say where models may be. */
export type Providers = Pick<Config, "openai" | "anthropic" | "google" | "ollamaBaseUrl">;
/** A configured provider. `list` asks for its models and rejects if it does not answer. */
export type Provider = { name: ModelRow["provider"]; list(): Promise<ListedModel[]> };

// Timeout in ms.
const patience = 5_000;

/** The providers of the environment: those with a key or an address, and Ollama at its usual address. */
export function providersIn({ openai, anthropic, google, ollamaBaseUrl }: Providers): Provider[] {
  const { apiKey: openaiKey } = openai;
  const { apiKey: anthropicKey } = anthropic;
  const { apiKey: googleKey } = google;
  const compatible = openai.baseUrl;
  return [
    ...(compatible
      ? [{ name: "openai-compatible" as const, list: () => listCompatible(compatible, openaiKey ?? null) }]
      : []),
    ...(openaiKey && !compatible ? [{ name: "openai" as const, list: () => listOpenAi(openaiKey) }] : []),
    ...(anthropicKey
      ? [{ name: "anthropic" as const, list: () => listAnthropic(anthropicKey, anthropic.baseUrl) }]
      : []),
    ...(googleKey ? [{ name: "google" as const, list: () => listGoogle(googleKey) }] : []),
    { name: "ollama" as const, list: () => listOllama(ollamaBaseUrl) },
  ];
}

async function listOpenAi(apiKey: string): Promise<ListedModel[]> {
  const { data } = await askFor<{ data: { id: string }[] }>("https://api.openai.com/v1/models", bearer(apiKey));
  const chat = /^(gpt|o\d|chatgpt)(?!.*(audio|realtime|image|tts|transcribe|search|instruct|embed))/;
  return data
    .filter(({ id }) => chat.test(id))
    .map(({ id }) => ({
      provider: "openai",
      externalId: id,
      name: id,
      baseUrl: null,
      apiKey,
      acceptsImages: 1,
      contextWindow: 128_000,
    }));
}

/**
 * The fields in which OpenAI-compatible servers tell a model's window: llama.cpp, vLLM, OpenRouter, Groq, LM Studio.
 */
type Compatible = {
  id: string;
  meta?: { n_ctx?: number } | null;
  max_model_len?: number | null;
  context_length?: number | null;
  context_window?: number | null;
  max_context_length?: number | null;
};

const windowUnknown = 32_768;

async function listCompatible(url: string, apiKey: string | null): Promise<ListedModel[]> {
  const { data } = await askFor<{ data: Compatible[] }>(`${url}/models`, apiKey ? bearer(apiKey) : {});
  const found: ListedModel[] = [];
  for (const model of data.filter(({ id }) => !/embed|whisper|tts|rerank/i.test(id))) {
    const said =
      model.meta?.n_ctx ??
      model.max_model_len ??
      model.context_length ??
      model.context_window ??
      model.max_context_length ??
      // Older builds of llama.cpp have it only in /props.
      (model.meta ? await windowInProps(url, apiKey) : undefined);
    found.push({
      provider: "openai-compatible",
      externalId: model.id,
      name: nameOf(model.id),
      baseUrl: url,
      apiKey,
      acceptsImages: likelySupportsImages(model.id),
      contextWindow: said || windowUnknown,
    });
  }
  return found;
}

/** The file name, if a server names its model by a path. */
const nameOf = (id: string) =>
  id
    .split(/[\\/]/)
    .at(-1)
    ?.replace(/\.gguf$/i, "") || id;

async function windowInProps(url: string, apiKey: string | null): Promise<number | undefined> {
  type Props = { default_generation_settings?: { n_ctx?: number } };
  const props = await askFor<Props>(url.replace(/\/v1$/, "/props"), apiKey ? bearer(apiKey) : {}).catch(
    () => undefined,
  );
  return props?.default_generation_settings?.n_ctx;
}

const bearer = (apiKey: string) => ({ Authorization: `Bearer ${apiKey}` });

async function listAnthropic(apiKey: string, baseUrl: string | undefined): Promise<ListedModel[]> {
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

async function listGoogle(apiKey: string): Promise<ListedModel[]> {
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

// Ollama's default window. Ollama silently drops what exceeds it.
const ollamaWindow = 4_096;

async function listOllama(baseUrl: string): Promise<ListedModel[]> {
  const { models } = await askFor<{ models: { name: string }[] }>(`${baseUrl}/api/tags`, {});
  const chats = models.filter(({ name }) => !/embed/i.test(name));
  return Promise.all(
    chats.map(async ({ name }) => ({
      provider: "ollama" as const,
      externalId: name,
      name,
      baseUrl,
      apiKey: null,
      acceptsImages: likelySupportsImages(name),
      contextWindow: (await ollamaContext(baseUrl, name).catch(() => undefined)) ?? ollamaWindow,
    })),
  );
}

/** The `num_ctx` among a model's parameters, which are lines of a name and a value (docs.ollama.com/api, «show»). */
async function ollamaContext(baseUrl: string, model: string): Promise<number | undefined> {
  const { parameters = "" } = await askFor<{ parameters?: string }>(`${baseUrl}/api/show`, {}, { model });
  const said = /^num_ctx\s+"?(\d+)/m.exec(parameters)?.[1];
  return said === undefined ? undefined : Number(said);
}

/** Guesses by its name whether a model accepts images, because these lists do not say. Admins can correct it. */
const likelySupportsImages = (name: string) =>
  /gpt-(4o|4\.1|4-turbo|[5-9])|claude|gemini|gemma-?[3-9]|llava|pixtral|vision|[-.\d]vl\b|minicpm-v|internvl|moondream|llama-?[4-9]/i.test(
    name,
  )
    ? 1
    : 0;

async function askFor<Answer>(url: string, headers: Record<string, string>, json?: object): Promise<Answer> {
  const signal = AbortSignal.timeout(patience);
  const response = await fetchModel(url, {
    headers: json ? { ...headers, "Content-Type": "application/json" } : headers,
    signal,
    ...(json && { method: "POST", body: JSON.stringify(json) }),
  });
  if (!response.ok) throw new Error(`${new URL(url).host} answered ${response.status}`);
  return (await response.json()) as Answer;
}
