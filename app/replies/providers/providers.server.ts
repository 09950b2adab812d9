import type { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import type { ModelRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import type { ReplyUsage } from "../chunk.ts";
import { isLoading, ReplyError, replyError } from "../errors.server.ts";
import type { ProviderMeta } from "../parts.server.ts";
import { generateHidden } from "../pseudonyms/generate-hidden.server.ts";
import { Answer } from "./answer.server.ts";
import { readCompletion } from "./completion-stream.server.ts";
import { fetchModel, listen } from "./model-fetch.server.ts";
import type { Stretch } from "./thoughts.server.ts";
import {
  type CallStretch,
  callPart,
  type OfferedTool,
  resultMessage,
  type ToolCall,
  ToolCalls,
  type ToolChoice,
  type ToolResult,
} from "./tool-calls.server.ts";

/** `images` are JPEG. */
export type Turn = { role: "user" | "assistant"; content: string; images?: Uint8Array[] };
/** A turn of a model: what it called in it, and the thought before it, if its provider wants that back. */
export type CallingTurn = Turn & { calls?: ToolCall[]; thought?: { text: string; meta: ProviderMeta } };
export type Prompt = { system: string; turns: (CallingTurn | ToolResult)[] };
/**
 * What a model sends. `reasoning`: it thinks aloud; `mistaken`: its text so far was a thought; `signed`: what its provider wants
 * back with the thought before.
 */
export type Piece = Stretch | CallStretch | { type: "signed"; meta: ProviderMeta } | Finish;
type Finish = { type: "finish"; usage: Partial<ReplyUsage>; reason: FinishReason; note?: string };
/** With OpenAI's names. */
type FinishReason = "stop" | "length" | "content_filter" | "tool_calls";
/** A model's row with its API key decrypted. */
export type ModelAccess = Pick<
  ModelRow,
  "provider" | "externalId" | "baseUrl" | "apiKey" | "maxOutputTokens" | "temperature" | "reasoning" | "pseudonyms"
>;

/** The requested output: text, or JSON, optionally with a schema. */
export type ResponseFormat = NonNullable<LanguageModelV4CallOptions["responseFormat"]>;
export type Options = {
  signal: AbortSignal;
  /** ms a model may stay silent. */
  silence: number;
  stop?: string[];
  responseFormat?: ResponseFormat | undefined;
  /** What it may call; without any, a model that calls something all the same has failed. */
  tools?: OfferedTool[] | undefined;
  toolChoice?: ToolChoice | undefined;
};

/**
 * Asks a model, with identifiers hidden from it if it is one of those; yields its thoughts, its text and its calls as they come, then one `finish`.
 * Throws ReplyError with a Spanish sentence if the provider refuses, breaks off, violates the protocol or is silent for `silence` ms.
 */
export function generate(model: ModelAccess, prompt: Prompt, options: Options): AsyncGenerator<Piece> {
  return model.pseudonyms ? generateHidden(ask, model, prompt, options) : ask(model, prompt, options);
}

async function* ask(
  model: ModelAccess,
  prompt: Prompt,
  { signal, silence, stop = [], responseFormat, tools = [], toolChoice }: Options,
): AsyncGenerator<Piece> {
  const abort = new AbortController();
  const quiet = setTimeout(() => abort.abort(ReplyError.silent(silence)), silence);
  // Total time limit: a model that sends a word now and then is never silent.
  const late = setTimeout(() => abort.abort(ReplyError.endless()), limits.replyTime);
  const onAbort = () => abort.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  const answer = new Answer({ untagged: untagged.has(keyOf(model)), mayCall: tools.length > 0 });
  let isRead = false;
  try {
    const language = await languageModel(model);
    // Keep-alive comments count as a sign of life; a model that thinks for long may send nothing else.
    let body: Readable | undefined;
    const takeStream = (taken: Readable) => {
      body = taken;
    };
    const speaksCompletions = model.provider === "openai-compatible" || model.provider === "ollama";
    const heard = () => void quiet.refresh();
    listen(abort.signal, { heard, takeStream: speaksCompletions ? takeStream : undefined });
    const stream = await whenLoaded(language, silence, {
      prompt: toPrompt(prompt),
      maxOutputTokens: model.maxOutputTokens,
      temperature: model.temperature ?? undefined,
      ...(model.reasoning && { reasoning: model.reasoning, providerOptions: showThoughts }),
      ...(stop.length > 0 && { stopSequences: stop }),
      ...(responseFormat && { responseFormat }),
      ...(tools.length > 0 && { tools, ...(toolChoice && { toolChoice }) }),
      abortSignal: abort.signal,
    });
    const reads = body ? readCompletion(body, heard) : readStream(stream, abort.signal);
    for await (const parts of reads) {
      abort.signal.throwIfAborted();
      for (const part of parts) yield* answer.read(part);
      if (answer.length > limits.reply) throw ReplyError.endless();
    }
    abort.signal.throwIfAborted();
    if (!answer.finished) throw ReplyError.cut();
    isRead = true;
  } catch (error) {
    if (abort.signal.aborted) throw replyError(abort.signal.reason);
    // Any error after the answer has begun is reported as a cut reply.
    throw replyError(answer.begun && !(error instanceof ReplyError) ? ReplyError.cut(error) : error);
  } finally {
    if (answer.mistook) untagged.add(keyOf(model));
    if (answer.onlyThought) untagged.delete(keyOf(model));
    clearTimeout(quiet);
    clearTimeout(late);
    signal.removeEventListener("abort", onAbort);
    if (!isRead) abort.abort();
  }
}

/** All that a model sends, read to its end. */
export async function readWhole(pieces: AsyncGenerator<Piece>) {
  let text = "";
  let thought = "";
  const calls = new ToolCalls();
  let end: Pick<Finish, "usage" | "reason"> = { usage: {}, reason: "stop" };
  for await (const piece of pieces) {
    if (piece.type === "text") text += piece.text;
    else if (piece.type === "reasoning") thought += piece.text;
    else if (piece.type === "mistaken") [text, thought] = ["", text];
    else if (piece.type === "finish") end = piece;
    else if (piece.type !== "signed") calls.take(piece);
  }
  return { text, thought, calls: calls.list, usage: end.usage, reason: end.reason };
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

// Google keeps its thoughts to itself unless it is asked for them.
const showThoughts = { google: { thinkingConfig: { includeThoughts: true } } };

// Models that have been seen to leave out the opening tag of their thoughts.
const untagged = new Set<string>();

/** The parts of a library's stream, one by one. */
async function* readStream(stream: Stream, signal: AbortSignal): AsyncGenerator<LanguageModelV4StreamPart[]> {
  const reader = stream.getReader();
  // Some libraries ignore the request's signal once the body has begun.
  const cancel = () => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener("abort", cancel, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield [value];
    }
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

function toPrompt({ system, turns }: Prompt): LanguageModelV4Prompt {
  return [
    ...(system ? [{ role: "system" as const, content: system }] : []),
    ...turns.map((turn): LanguageModelV4Message => {
      if (turn.role === "tool") return resultMessage(turn);
      const { role, content, images = [], calls = [], thought } = turn;
      const text = content || calls.length === 0 ? [{ type: "text" as const, text: content }] : [];
      return role === "user"
        ? { role, content: [...images.map(imagePart), ...text] }
        : { role, content: [...thoughtPart(thought), ...images.map(imagePart), ...text, ...calls.map(callPart)] };
    }),
  ];
}

const thoughtPart = (thought: CallingTurn["thought"]) =>
  thought ? [{ type: "reasoning" as const, text: thought.text, providerOptions: thought.meta }] : [];

const imagePart = (data: Uint8Array) => ({
  type: "file" as const,
  mediaType: "image/jpeg",
  data: { type: "data" as const, data },
});

// Cached, because creating a provider builds all schemas of its protocol.
const made = new Map<string, Promise<LanguageModelV4>>();
const keptMade = 50;

const keyOf = ({ provider, externalId, baseUrl }: ModelAccess) => JSON.stringify([provider, externalId, baseUrl]);

function languageModel(model: ModelAccess): Promise<LanguageModelV4> {
  const key = `${keyOf(model)} ${model.apiKey}`;
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
