import type { LanguageModelV4, LanguageModelV4Prompt } from "@ai-sdk/provider";
import type { ModelRow } from "../db/tables.ts";
import { limits } from "../limits.ts";
import type { Usage } from "./chunk.ts";
import { ReplyError, replyError } from "./errors.server.ts";
import { fetchModel } from "./model-fetch.server.ts";

/** `images` are JPEG. */
export type Turn = { role: "user" | "assistant"; content: string; images?: Uint8Array[] };
export type Prompt = { system: string; turns: Turn[] };
export type Part =
  | { type: "text"; text: string }
  | { type: "finish"; usage: Partial<Usage>; reason: FinishReason; note?: string };
/** As OpenAI calls them. */
type FinishReason = "stop" | "length" | "content_filter";
/** A model's row with its key in clear. */
export type ModelAccess = Pick<
  ModelRow,
  "provider" | "externalId" | "baseUrl" | "apiKey" | "maxOutputTokens" | "temperature"
>;

/**
 * Asks a model and answers its text as it comes, then one `finish`.
 * Throws ReplyError, in Spanish, when the provider refuses, breaks off, talks rubbish or stays silent for `silence` ms.
 */
export async function* generate(
  model: ModelAccess,
  prompt: Prompt,
  { signal, silence, stop = [] }: { signal: AbortSignal; silence: number; stop?: string[] },
): AsyncGenerator<Part> {
  const abort = new AbortController();
  const quiet = setTimeout(() => abort.abort(ReplyError.silent(silence)), silence);
  // A model that drips is never silent.
  const late = setTimeout(() => abort.abort(ReplyError.endless()), limits.replyTime);
  const onAbort = () => abort.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const language = await languageModel(model);
    const { stream } = await language.doStream({
      prompt: toPrompt(prompt),
      maxOutputTokens: model.maxOutputTokens,
      temperature: model.temperature ?? undefined,
      ...(stop.length > 0 && { stopSequences: stop }),
      abortSignal: abort.signal,
    });
    yield* readParts(stream, quiet, abort.signal);
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

async function* readParts(stream: Stream, quiet: NodeJS.Timeout, signal: AbortSignal): AsyncGenerator<Part> {
  const reader = stream.getReader();
  // Some readers ignore the request's signal once the body has begun.
  const cancel = () => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener("abort", cancel, { once: true });
  let length = 0;
  let finished = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) break;
      quiet.refresh();
      if (value.type === "error") throw value.error;
      if (value.type === "text-delta" && value.delta) {
        length += value.delta.length;
        // PostgreSQL has no NUL.
        yield { type: "text", text: value.delta.replaceAll("\0", "") };
        if (length > limits.reply) throw ReplyError.endless();
      }
      if (value.type === "finish") {
        const { unified, raw } = value.finishReason;
        // The providers' libraries make up a finish of their own where the stream broke off.
        if (unified === "error" || (unified === "other" && raw === undefined)) throw ReplyError.cut();
        finished = true;
        yield {
          type: "finish",
          usage: { inputTokens: value.usage.inputTokens.total, outputTokens: value.usage.outputTokens.total },
          reason: unified === "length" ? "length" : unified === "content-filter" ? "content_filter" : "stop",
          ...(unified === "length" && { note: "La respuesta ha llegado a la longitud máxima de este modelo." }),
          ...(unified === "content-filter" && {
            note: "El proveedor ha cortado la respuesta con su filtro de contenido.",
          }),
        };
      }
    }
    if (!finished) throw ReplyError.cut();
    if (length === 0) throw ReplyError.empty();
  } catch (error) {
    // Whatever breaks a text that had begun, to the person it was cut.
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

// Making one makes all the schemas of its protocol, which costs more than a whole token.
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
        fetch: fetchModel,
      })(externalId);
    }
    case "local":
      throw new Error("the local assistant answers without a provider");
  }
}
