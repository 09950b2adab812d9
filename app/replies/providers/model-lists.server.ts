import type { ModelRow } from "../../db/tables.ts";
import type { Config } from "../../process/config.server.ts";
import { listOf, recordOf } from "../../process/text/json.ts";
import { keyHeaders, serverAddressOf } from "./model-address.server.ts";
import { fetchModel } from "./model-fetch.server.ts";

/** A model in a provider's list. */
export type ListedModel = Pick<
  ModelRow,
  "provider" | "externalId" | "name" | "baseUrl" | "apiKey" | "acceptsImages" | "usesTools" | "contextWindow"
> & {
  /** Facts that the server itself gives; the columns hold a guess for the rest. */
  told?: { sees: boolean | undefined; window: number | undefined };
};

/** The settings that say where models may be. */
export type Providers = Pick<Config, "openai" | "anthropic" | "google" | "ollamaBaseUrl">;
/** A configured provider, with the address of its models. `list` asks the provider for the models and rejects if it does not answer. */
export type Provider = { name: ModelRow["provider"]; baseUrl: string | null; list(): Promise<ListedModel[]> };

type Fields = Record<string, unknown>;

// Timeout in ms: gateways ask all their providers for such a list. Stopping the process waits for it.
const patience = 10_000;
// More than anybody chooses among; OpenRouter has some 400.
const modelsAtMost = 1_000;

/** A server of models as a model's row names it, its key decrypted. */
export type ModelServer = Pick<ModelRow, "provider" | "baseUrl" | "apiKey">;

/** A model as its own server lists it; undefined where there is no list, or the model is not in it. */
export async function askAbout(model: ModelServer & Pick<ModelRow, "externalId">) {
  const listed = await listAt(model)?.catch(() => []);
  return listed?.find((one) => one.externalId === model.externalId);
}

/** The models of a server; undefined if its provider has no list to ask for. Rejects if the server does not answer. */
export function listAt({ provider, baseUrl, apiKey }: ModelServer): Promise<ListedModel[]> | undefined {
  if (provider === "openai-compatible" && baseUrl) return listCompatible(baseUrl, apiKey);
  if (provider === "ollama" && baseUrl) return listOllama(baseUrl);
  if (provider === "anthropic" && apiKey) return listAnthropic(apiKey, baseUrl ?? undefined);
  return provider === "google" && apiKey ? listGoogle(apiKey) : undefined;
}

/** The providers of the environment: those with a key or an address, and Ollama at its usual address. */
export function providersIn({ openai, anthropic, google, ollamaBaseUrl }: Providers): Provider[] {
  const { apiKey: openaiKey } = openai;
  const { apiKey: anthropicKey } = anthropic;
  const { apiKey: googleKey } = google;
  const compatible = openai.baseUrl && serverAddressOf("openai-compatible", openai.baseUrl);
  const ownAnthropic = anthropic.baseUrl ? serverAddressOf("anthropic", anthropic.baseUrl) : null;
  const ollama = serverAddressOf("ollama", ollamaBaseUrl);
  const at = (name: Provider["name"], baseUrl: string | null, list: Provider["list"]) => ({ name, baseUrl, list });
  return [
    ...(compatible
      ? [at("openai-compatible", compatible, () => listCompatible(compatible, openaiKey ?? null))]
      : openaiKey
        ? [at("openai", null, () => listOpenAi(openaiKey))]
        : []),
    ...(anthropicKey ? [at("anthropic", ownAnthropic, () => listAnthropic(anthropicKey, anthropic.baseUrl))] : []),
    ...(googleKey ? [at("google", null, () => listGoogle(googleKey))] : []),
    at("ollama", ollama, () => listOllama(ollama)),
  ];
}

async function listOpenAi(apiKey: string): Promise<ListedModel[]> {
  const models = modelsIn(await askFor("https://api.openai.com/v1/models", bearer(apiKey)));
  const chat = /^(gpt|o\d|chatgpt)(?!.*(audio|realtime|image|tts|transcribe|search|instruct|embed))/;
  return models
    .filter(({ id }) => chat.test(id))
    .map(({ id }) => ({
      provider: "openai",
      externalId: id,
      name: id,
      baseUrl: null,
      apiKey,
      acceptsImages: 1,
      usesTools: 1,
      contextWindow: 128_000,
    }));
}

/**
 * The models of a list: `data` of OpenAI's format, `models` of Ollama's and Google's, or the list itself. Entries without an id and
 * repeated entries are left out.
 */
function modelsIn(answer: unknown): { id: string; said: Fields }[] {
  const fields = recordOf(answer);
  const entries = [answer, fields?.data, fields?.models].map(listOf).find(({ length }) => length > 0) ?? [];
  const models = new Map<string, Fields>();
  for (const entry of entries) {
    const said = recordOf(entry) ?? {};
    // GitHub names the place of a model in its registry as its id, and takes its name.
    const names = [entry, said.id, said.name, said.model].filter((one) => typeof one === "string" && one.trim() !== "");
    const id = names.find((one) => !String(one).includes("://")) ?? names[0];
    // LiteLLM lists patterns such as «openai/*», which are no models.
    if (typeof id === "string" && id.length <= 200 && !id.includes("*") && !models.has(id)) models.set(id, said);
  }
  return [...models].slice(0, modelsAtMost).map(([id, said]) => ({ id, said }));
}

const windowUnknown = 32_768;

/** A window in tokens as a server said it; undefined for a value that can't be a window. */
const windowOf = (...said: unknown[]): number | undefined =>
  said.map(Number).find((window) => Number.isInteger(window) && window >= 256 && window <= 10_000_000);

async function listCompatible(url: string, apiKey: string | null): Promise<ListedModel[]> {
  const headers = apiKey ? keyHeaders(apiKey, url) : {};
  const path = (name: string) => url.replace(/(\?|$)/, `${name}$1`);
  const found: ListedModel[] = [];
  const models = modelsIn(await askFor(path("/models"), headers)).filter(mayConverse);
  // llama.cpp tells at `/props` what its model can do; older builds give the window only there.
  const isLlamaCpp = models.some(({ said }) => recordOf(said.meta) || said.owned_by === "llamacpp");
  const props = isLlamaCpp ? await askFor(url.replace(/\/v1$/, "/props"), headers).catch(() => undefined) : undefined;
  for (const { id, said } of models) {
    const { max_model_len, context_length, context_window, max_context_length } = said;
    const listed = windowOf(
      recordOf(said.meta)?.n_ctx,
      max_model_len,
      context_length,
      context_window,
      max_context_length,
    );
    const ofServer = windowOf(recordOf(recordOf(props)?.default_generation_settings)?.n_ctx);
    const window = listed ?? (recordOf(said.meta) ? ofServer : undefined);
    const { sees, calls } = abilitiesOf(said, recordOf(props));
    found.push({
      provider: "openai-compatible",
      externalId: id,
      name: nameOf(id),
      baseUrl: url,
      apiKey,
      acceptsImages: flag(sees ?? likelySeesImages(id)),
      // Not all servers tell: tools are tried, and a refusal is remembered.
      usesTools: flag(calls ?? true),
      contextWindow: window ?? windowUnknown,
      told: { sees, window },
    });
  }
  return found;
}

// Names of models of other kinds, on servers that do not tell the kind.
const otherKinds =
  /embed|whisper|tts|rerank|(?:^|[/_-])(?:bge|e5|gte|minilm)[-_]|flux|stable-?diffusion|sdxl|dall-e|moderation|realtime|gpt-image|transcri|computer-use|(?:^|[/_-])(?:ocr|sora|veo|imagen|clip)(?:[-_\d]|$)|-clip-/i;

/** Whether a model is one for conversations, as its server says (Together, LM Studio, Mistral, OpenRouter), else by its name. */
function mayConverse({ id, said }: { id: string; said: Fields }): boolean {
  const kind = typeof said.type === "string" ? said.type.toLowerCase() : undefined;
  const converses = recordOf(said.capabilities)?.completion_chat;
  const outputs = recordOf(said.architecture)?.output_modalities;
  if (kind && /^(?:image|embeddings?|audio|rerank|moderation|transcribe|video)$/.test(kind)) return false;
  if (typeof converses === "boolean") return converses;
  if (Array.isArray(outputs) && outputs.length > 0) return outputs.includes("text");
  return kind === "chat" || kind === "llm" || kind === "vlm" || !otherKinds.test(id);
}

const flag = (is: boolean) => (is ? (1 as const) : (0 as const));

/**
 * Whether a model sees images and calls tools, as its server says: OpenRouter's `architecture` and `supported_parameters`, Mistral's
 * and LM Studio's `capabilities`, llama.cpp's `/props`. Undefined where it does not say.
 */
function abilitiesOf(
  said: Fields,
  props: Fields | undefined,
): { sees: boolean | undefined; calls: boolean | undefined } {
  const inputs = recordOf(said.architecture)?.input_modalities ?? said.input_modalities;
  const parameters = said.supported_parameters;
  const able = recordOf(said.capabilities);
  const named = listOf(said.capabilities);
  const known = (value: unknown) => (typeof value === "boolean" ? value : undefined);
  const template = recordOf(props?.chat_template_caps);
  const sees = [
    Array.isArray(inputs) ? inputs.includes("image") : undefined,
    known(able?.vision),
    said.type === "vlm" || named.includes("vision") || undefined,
    known(recordOf(props?.modalities)?.vision),
  ];
  const calls = [
    Array.isArray(parameters) ? parameters.includes("tools") : undefined,
    known(able?.function_calling),
    known(able?.tool_calling),
    named.includes("tool_use") || named.includes("tools") || undefined,
    known(template?.supports_tools ?? template?.supports_tool_calls),
  ];
  const first = (values: (boolean | undefined)[]) => values.find((value) => value !== undefined);
  return { sees: first(sees), calls: first(calls) };
}

/** The file name, if a server names its model by a path. */
const nameOf = (id: string) =>
  id
    .split(/[\\/]/)
    .at(-1)
    ?.replace(/\.gguf$/i, "") || id;

const bearer = (apiKey: string) => ({ Authorization: `Bearer ${apiKey}` });

async function listAnthropic(apiKey: string, baseUrl: string | undefined): Promise<ListedModel[]> {
  const url = baseUrl ? serverAddressOf("anthropic", baseUrl) : "https://api.anthropic.com/v1";
  const headers = { "x-api-key": apiKey, "anthropic-version": "2023-06-01" };
  return modelsIn(await askFor(`${url}/models?limit=1000`, headers)).map(({ id, said }) => ({
    provider: "anthropic",
    externalId: id,
    name: typeof said.display_name === "string" && said.display_name ? said.display_name : id,
    baseUrl: baseUrl ? url : null,
    apiKey,
    acceptsImages: 1,
    usesTools: 1,
    contextWindow: windowOf(said.max_input_tokens) ?? 200_000,
  }));
}

async function listGoogle(apiKey: string): Promise<ListedModel[]> {
  const answer = await askFor("https://generativelanguage.googleapis.com/v1beta/models?pageSize=200", {
    "x-goog-api-key": apiKey,
  });
  return modelsIn(answer)
    .filter(
      ({ id, said }) =>
        id.includes("gemini") &&
        !otherKinds.test(id) &&
        listOf(said.supportedGenerationMethods).includes("generateContent"),
    )
    .map(({ id, said }) => ({
      provider: "google",
      externalId: id.replace("models/", ""),
      name: typeof said.displayName === "string" && said.displayName ? said.displayName : id,
      baseUrl: null,
      apiKey,
      acceptsImages: 1,
      usesTools: 1,
      contextWindow: windowOf(said.inputTokenLimit) ?? 1_000_000,
    }));
}

// Smallest default window of Ollama, on machines with little memory. Ollama silently drops what exceeds it.
const ollamaWindow = 4_096;

async function listOllama(baseUrl: string): Promise<ListedModel[]> {
  const chats = modelsIn(await askFor(`${baseUrl}/api/tags`, {})).filter(({ id }) => !/embed/i.test(id));
  const listed = await Promise.all(
    chats.map(async ({ id }) => {
      const shown = recordOf(await askFor(`${baseUrl}/api/show`, {}, { model: id }).catch(() => undefined));
      // Older versions do not say what a model can do.
      const abilities = Array.isArray(shown?.capabilities) ? shown.capabilities : undefined;
      if (abilities?.includes("embedding") && !abilities.includes("completion")) return [];
      const window = numCtx(shown?.parameters);
      return {
        provider: "ollama" as const,
        externalId: id,
        name: id,
        baseUrl,
        apiKey: null,
        acceptsImages: flag(abilities?.includes("vision") ?? likelySeesImages(id)),
        usesTools: flag(abilities?.includes("tools") ?? true),
        contextWindow: window ?? ollamaWindow,
        told: { sees: abilities?.includes("vision"), window },
      };
    }),
  );
  return listed.flat();
}

/** The `num_ctx` among a model's parameters, which are lines of a name and a value (docs.ollama.com/api, «show»). */
const numCtx = (parameters: unknown): number | undefined =>
  windowOf(/^num_ctx\s+"?(\d{1,9})/m.exec(typeof parameters === "string" ? parameters : "")?.[1] ?? Number.NaN);

/** Guesses from a model's name whether it accepts images, for servers that do not say. Administrators can correct it. */
const likelySeesImages = (name: string) =>
  /gpt-(4o|4\.1|4-turbo|[5-9])|claude|gemini|gemma-?[3-9]|llava|pixtral|vision|[-.\d]vl\b|minicpm-v|internvl|moondream|llama-?[4-9]/i.test(
    name,
  );

async function askFor(url: string, headers: Record<string, string>, json?: object): Promise<unknown> {
  const signal = AbortSignal.timeout(patience);
  const response = await fetchModel(url, {
    headers: json ? { ...headers, "Content-Type": "application/json" } : headers,
    signal,
    ...(json && { method: "POST", body: JSON.stringify(json) }),
  });
  if (!response.ok) throw new Error(`${new URL(url).host} answered ${response.status}`);
  return await response.json();
}
