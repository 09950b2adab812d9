import { setTimeout as wait } from "node:timers/promises";
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Prompt } from "@ai-sdk/provider";
import type { ModelRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import type { Usage } from "../chunk.ts";
import { isLoading, ReplyError, replyError } from "../errors.server.ts";
import { fetchModel, hearLife } from "./model-fetch.server.ts";
import { Thoughts } from "./thoughts.server.ts";

/** `images` are JPEG. */
export type Turn = { role: "user" | "assistant"; content: string; images?: Uint8Array[] };
export type Prompt = { system: string; turns: Turn[] };
export type Part =
  | { type: "text"; text: string }
  | { type: "finish"; usage: Partial<Usage>; reason: FinishReason; note?: string };
/** With OpenAI's names. */
type FinishReason = "stop" | "length" | "content_filter";
/** A model's row with its API key decrypted. */
export type ModelAccess = Pick<
  ModelRow,
  "provider" | "externalId" | "baseUrl" | "apiKey" | "maxOutputTokens" | "temperature"
>;

/** The requested output: text, or JSON, optionally with a schema. */
export type ResponseFormat = NonNullable<LanguageModelV4CallOptions["responseFormat"]>;
type Options = {
  signal: AbortSignal;
  /** ms a model may stay silent. */
  silence: number;
  stop?: string[];
  responseFormat?: ResponseFormat | undefined;
};

/**
 * Asks a model; yields its text as it comes, then one `finish`.
 * Throws ReplyError with a Spanish sentence if the provider refuses, breaks off, violates the protocol or is silent for `silence` ms.
 */
export async function* generate(
  model: ModelAccess,
  prompt: Prompt,
  { signal, silence, stop = [], responseFormat }: Options,
): AsyncGenerator<Part> {
  const abort = new AbortController();
  const quiet = setTimeout(() => abort.abort(ReplyError.silent(silence)), silence);
  // Total time limit: a model that sends a word now and then is never silent.
  const late = setTimeout(() => abort.abort(ReplyError.endless()), limits.replyTime);
  const onAbort = () => abort.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const language = await languageModel(model);
    // Keep-alive comments count as a sign of life; a model that thinks for long may send nothing else.
    hearLife(abort.signal, () => quiet.refresh());
    const stream = await whenLoaded(language, silence, {
      prompt: toPrompt(prompt),
      maxOutputTokens: model.maxOutputTokens,
      temperature: model.temperature ?? undefined,
      ...(stop.length > 0 && { stopSequences: stop }),
      ...(responseFormat && { responseFormat }),
      abortSignal: abort.signal,
    });
    yield* readParts(stream, abort.signal);
  } catch (error) {
    throw replyError(abort.signal.aborted ? abort.signal.reason : error);
  } finally {
    clearTimeout(quiet);
    clearTimeout(late);
    signal.removeEventListener("abort", onAbort);
    abort.abort();
  }
}

type Stream = Awaited<ReturnType<LanguageModelV4["doStream"]>>["stream"];

const loadedAgainAfter = 1_000;

/** Opens the stream; while the server is still loading the model, asks again until its time is over. */
async function whenLoaded(
  language: LanguageModelV4,
  silence: number,
  options: LanguageModelV4CallOptions,
): Promise<Stream> {
  const until = Date.now() + silence;
  for (;;) {
    try {
      return (await language.doStream(options)).stream;
    } catch (error) {
      if (!isLoading(error)) throw error;
      if (Date.now() + loadedAgainAfter > until) throw ReplyError.loading();
      await wait(loadedAgainAfter, undefined, { signal: options.abortSignal });
    }
  }
}

async function* readParts(stream: Stream, signal: AbortSignal): AsyncGenerator<Part> {
  const thoughts = new Thoughts();
  let files = 0;
  const reader = stream.getReader();
  // Some libraries ignore the request's signal once the body has begun.
  const cancel = () => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener("abort", cancel, { once: true });
  let length = 0;
  let finished = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) break;
      if (value.type === "error") throw value.error;
      if (value.type === "file") files++;
      if (value.type === "text-delta" && value.delta) {
        // PostgreSQL can't store NUL.
        const text = thoughts.without(value.delta.replaceAll("\0", ""));
        length += text.length;
        if (text) yield { type: "text", text };
        if (length > limits.reply) throw ReplyError.endless();
      }
      if (value.type === "finish") {
        const { unified, raw } = value.finishReason;
        // The libraries invent a finish when the stream breaks off.
        if (unified === "error" || (unified === "other" && raw === undefined)) throw ReplyError.cut();
        finished = true;
        const rest = thoughts.rest();
        length += rest.length;
        if (rest) yield { type: "text", text: rest };
        const refused = raw === "refusal";
        if (length === 0) {
          if (refused) throw ReplyError.wordless("refusal");
          if (unified === "length" || unified === "content-filter" || unified === "tool-calls") {
            throw ReplyError.wordless(unified);
          }
          throw files > 0 ? ReplyError.wordless("file") : ReplyError.empty();
        }
        yield {
          type: "finish",
          usage: { inputTokens: value.usage.inputTokens.total, outputTokens: value.usage.outputTokens.total },
          reason: unified === "length" ? "length" : unified === "content-filter" ? "content_filter" : "stop",
          ...(unified === "length" && { note: "La respuesta ha llegado a la longitud máxima de este modelo." }),
          // A refusal is a complete answer.
          ...(unified === "content-filter" &&
            !refused && {
              note: "El proveedor ha cortado la respuesta con su filtro de contenido.",
            }),
        };
      }
    }
    if (!finished) throw ReplyError.cut();
  } catch (error) {
    // Any error after the text has begun is reported as a cut reply.
    throw length > 0 && !signal.aborted && !(error instanceof ReplyError) ? ReplyError.cut(error) : error;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

function toPrompt({ system, turns }: Prompt): LanguageModelV4Prompt {
  return [
    ...(system ? [{ role: "system" as const, content: system }] : []),
    ...turns.map(({ role, content, images = [] }) => ({
      role,
      content: [...images.map(imagePart), { type: "text" as const, text: content }],
    })),
  ];
}

const imagePart = (data: Uint8Array) => ({
  type: "file" as const,
  mediaType: "image/jpeg",
  data: { type: "data" as const, data },
});

// Cached, because creating a provider builds all schemas of its protocol.
const made = new Map<string, Promise<LanguageModelV4>>();
const keptMade = 50;

function languageModel(model: ModelAccess): Promise<LanguageModelV4> {
  const key = JSON.stringify([model.provider, model.externalId, model.baseUrl, model.apiKey]);
  let language = made.get(key);
  if (!language) {
    if (made.size >= keptMade) made.clear();
    language = makeLanguageModel(model);
    language.catch(() => made.delete(key));
    made.set(key, language);
  }
  return language;
}

// Loaded when first used: a fresh installation has no provider, and each costs start-up time and memory.
async function makeLanguageModel({ provider, externalId, baseUrl, apiKey }: ModelAccess): Promise<LanguageModelV4> {
  const settings = { apiKey: apiKey ?? "", fetch: fetchModel, ...(baseUrl && { baseURL: baseUrl }) };
  switch (provider) {
    case "openai":
      return (await import("@ai-sdk/openai")).createOpenAI(settings)(externalId);
    case "anthropic":
      return (await import("@ai-sdk/anthropic")).createAnthropic(settings)(externalId);
    case "google":
      return (await import("@ai-sdk/google")).createGoogleGenerativeAI(settings)(externalId);
    case "openai-compatible":
    case "ollama": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      return createOpenAICompatible({
        name: provider,
        baseURL: provider === "ollama" ? `${baseUrl}/v1` : (baseUrl ?? ""),
        apiKey: apiKey ?? undefined,
        includeUsage: true,
        // Otherwise the library would silently drop the schema.
        supportsStructuredOutputs: true,
        fetch: fetchModel,
      })(externalId);
    }
    case "local":
      throw new Error("the local assistant answers without a provider");
  }
}
