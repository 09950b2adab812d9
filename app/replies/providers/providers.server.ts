import type { Readable } from "node:stream";
import { setTimeout as wait } from "node:timers/promises";
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { limits } from "../../process/limits.ts";
import { ReplyError, replyError } from "../errors.server.ts";
import { generateHidden } from "../pseudonyms/generate-hidden.server.ts";
import { toPrompt } from "./language-prompt.server.ts";
import { keyHeaders, partsOfAddress, withVersion } from "./model-address.server.ts";
import type {
  Finish,
  ImagePiece,
  ModelAccess,
  OfferedTool,
  Options,
  Piece,
  Prompt,
  Settings,
} from "./model-call.server.ts";
import { fetchModel, listen } from "./model-fetch.server.ts";
import { commonOptions, ownOptions, refuseLeftOut, refuseUnsupported } from "./program-settings.server.ts";
import { Answer } from "./reading/answer.server.ts";
import { type Beside, readCompletion } from "./reading/completion-stream.server.ts";
import { repairedMessageLine } from "./reading/repaired-messages.server.ts";
import {
  noteRefused,
  type Parameter,
  refusedBy,
  refusedIn,
  refusedToolIn,
  refusesSchemas,
  speaksOfTools,
  withoutRefused,
} from "./refused-parameters.server.ts";
import { ToolCalls } from "./tool-calls.server.ts";
import { askWithTakenNames } from "./tool-names.server.ts";
import { plainSchema } from "./tool-schema.server.ts";

/**
 * Asks a model, behind pseudonyms if its row has them on; yields every `Piece` as it comes, `finish` last. Throws ReplyError with a Spanish
 * sentence if the provider refuses, breaks off, violates the protocol or is silent for `silence` ms.
 */
export function generate(model: ModelAccess, prompt: Prompt, options: Options): AsyncGenerator<Piece> {
  return model.pseudonyms ? generateHidden(askNamed, model, prompt, options) : askNamed(model, prompt, options);
}

const askNamed: typeof ask = (model, prompt, options) => askWithTakenNames(ask, model, prompt, options);

// Each try changes something else in the request.
const triesAtMost = 16;

/**
 * Asks until the server accepts the request: without a parameter or tool that the server refuses, or at the address with `/v1`; and once
 * more if the model has misspelt a call. An answer that has begun is not asked for again.
 */
async function* ask(given: ModelAccess, prompt: Prompt, asked: Options): AsyncGenerator<Piece> {
  let model = given;
  const left = leftOut.get(keyOf(model)) ?? new Set();
  const tools = (asked.tools ?? []).filter((tool) => !left.has(JSON.stringify(tool)));
  let isPlain = wantsPlain.has(keyOf(model));
  let options = { ...asked, tools: isPlain ? tools.map(plainTool) : tools };
  for (let tries = 1; ; tries++) {
    let hasBegun = false;
    const refused = refusedBy(model);
    refuseLeftOut(options.required, refused);
    try {
      for await (const piece of askOnce(model, prompt, options, refused)) {
        if (!hasBegun && isPlain) rememberPlain(model);
        hasBegun = true;
        yield piece;
      }
      if (model.baseUrl !== given.baseUrl && model.baseUrl) await options.learn?.({ baseUrl: model.baseUrl });
      return;
    } catch (error) {
      if (hasBegun || tries === triesAtMost) throw error;
      // The model may write it well the next time.
      if (tries === 1 && error instanceof ReplyError && error.kind === "misspelt-call") continue;
      const mayBePlainer = options.tools.length > 0 && !isPlain;
      if (mayBePlainer && refusesSchemas(error)) {
        isPlain = true;
        options = { ...options, tools: options.tools.map(plainTool) };
        continue;
      }
      const parameters = refusedIn(error, refused).filter((name) => isSent(name, options, model));
      if (parameters.length > 0) {
        noteRefused(model, parameters);
        await options.learn?.({ refused: parameters });
        refuseLeftOut(options.required, new Set(parameters));
        continue;
      }
      const tool = options.tools.find(({ name }) => name === refusedToolIn(error, options.tools));
      if (tool) {
        leaveOut(model, tool);
        options = { ...options, tools: options.tools.filter((one) => one !== tool) };
        continue;
      }
      if (mayBePlainer && speaksOfTools(error)) {
        isPlain = true;
        options = { ...options, tools: options.tools.map(plainTool) };
        continue;
      }
      const isElsewhere =
        error instanceof ReplyError && error.kind === "address" && model.provider === "openai-compatible";
      const baseUrl = isElsewhere && model.baseUrl ? withVersion(model.baseUrl) : undefined;
      if (!baseUrl) throw error;
      model = { ...model, baseUrl };
    }
  }
}

// Tools whose description a model's provider has refused, in this process: one of them must not keep all others from being called.
const leftOut = new Map<string, Set<string>>();
const keptLeftOut = 200;

// Models whose server has refused the tools' schemas and answered once they were plainer, in this process.
const wantsPlain = new Set<string>();

function rememberPlain(model: ModelAccess): void {
  if (wantsPlain.size >= keptLeftOut) wantsPlain.clear();
  wantsPlain.add(keyOf(model));
}

const plainTool = (tool: OfferedTool): OfferedTool => ({ ...tool, inputSchema: plainSchema({ ...tool.inputSchema }) });

/** Whether a request has a parameter at all: servers also name one in errors about another. */
const isSent = (name: Parameter, { responseFormat }: Options, { provider }: ModelAccess): boolean =>
  (responseFormat !== undefined || (name !== "json_schema" && name !== "response_format")) &&
  // Its own library signs the calls.
  !(name === "unsigned_calls" && provider === "google");

function leaveOut(model: ModelAccess, tool: OfferedTool): void {
  if (leftOut.size >= keptLeftOut) leftOut.clear();
  const key = keyOf(model);
  leftOut.set(key, new Set([...(leftOut.get(key) ?? []), JSON.stringify(tool)]));
}

async function* askOnce(
  model: ModelAccess,
  prompt: Prompt,
  { signal, silence, stop = [], responseFormat, tools = [], toolChoice, ...others }: Options,
  refused: ReadonlySet<Parameter>,
): AsyncGenerator<Piece> {
  // The reply may have been stopped while its prompt was built: a signal that has already aborted fires no event.
  signal.throwIfAborted();
  const watch = new Watch(signal, silence);
  const { abort, heard } = watch;
  const { settings = {}, required = [], mayBeEmpty = [], tellsGrowth = false } = others;
  const isUntagged = (untagged.get(keyOf(model)) ?? 0) >= untaggedAfter;
  // The servers of OpenAI, Anthropic and Google tell calls from text themselves.
  const speaksCompletions = model.provider === "openai-compatible" || model.provider === "ollama";
  const answer = new Answer({ untagged: isUntagged, tools, writesCalls: speaksCompletions, mayBeEmpty, tellsGrowth });
  let isRead = false;
  try {
    const language = await languageModel(model);
    let body: Readable | undefined;
    const takeStream = (taken: Readable) => {
      body = taken;
    };
    const rewrite = (request: string) => withoutRefused(request, refused);
    listen(abort.signal, {
      heard,
      rewrite,
      takeStream: speaksCompletions ? takeStream : undefined,
      changeLine: model.provider === "anthropic" ? repairedMessageLine : undefined,
    });
    const stream = await whenLoaded(language, silence, {
      prompt: toPrompt(prompt),
      ...optionsFor(model, settings, required),
      ...(stop.length > 0 && { stopSequences: stop }),
      ...(responseFormat && { responseFormat }),
      ...(tools.length > 0 && { tools, ...(toolChoice && { toolChoice }) }),
      abortSignal: abort.signal,
    });
    const beside: Beside = { citations: [] };
    const reads = body ? readCompletion(body, heard, beside) : readStream(stream, abort.signal);
    for await (const parts of reads) {
      abort.signal.throwIfAborted();
      for (const part of parts) {
        if (part.type === "stream-start") refuseUnsupported(part.warnings, settings, required);
        for (const piece of answer.read(part)) yield piece.type === "finish" ? { ...piece, ...beside } : piece;
      }
      if (answer.length > limits.reply) throw ReplyError.endless();
    }
    abort.signal.throwIfAborted();
    if (!answer.finished) throw ReplyError.cut();
    isRead = true;
  } catch (error) {
    throw abort.signal.aborted ? replyError(abort.signal.reason) : asTold(error, answer.begun);
  } finally {
    if (answer.mistook) untagged.set(keyOf(model), (untagged.get(keyOf(model)) ?? 0) + 1);
    else if (answer.onlyThought || (answer.finished && !isUntagged)) untagged.delete(keyOf(model));
    watch.end();
    if (!isRead) abort.abort();
  }
}

/** Aborts a call when it is stopped, when its model is silent, and when it takes too long in all. */
class Watch {
  readonly abort = new AbortController();
  readonly #signal: AbortSignal;
  readonly #quiet: NodeJS.Timeout;
  readonly #late: NodeJS.Timeout;

  /** `silence`: in ms. */
  constructor(signal: AbortSignal, silence: number) {
    this.#signal = signal;
    this.#quiet = setTimeout(() => this.abort.abort(ReplyError.silent(silence)), silence);
    // A model that sends a word now and then is never silent.
    this.#late = setTimeout(() => this.abort.abort(ReplyError.endless()), limits.replyTime);
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** Keep-alive comments count as a sign of life; a model that thinks for long may send nothing else. */
  readonly heard = () => void this.#quiet.refresh();

  readonly #onAbort = () => this.abort.abort(this.#signal.reason);

  end(): void {
    clearTimeout(this.#quiet);
    clearTimeout(this.#late);
    this.#signal.removeEventListener("abort", this.#onAbort);
  }
}

/** Any error of the server after the answer has begun is reported as a cut reply. */
function asTold(error: unknown, begun: boolean): unknown {
  const told = replyError(error);
  const isOfServer = !(error instanceof ReplyError) && told instanceof ReplyError;
  return begun && isOfServer ? ReplyError.cut(told) : told;
}

/** A model's own settings, and those of this call. */
const optionsFor = (model: ModelAccess, settings: Settings, required: readonly Parameter[]) => ({
  maxOutputTokens: model.maxOutputTokens,
  ...commonOptions(settings),
  // Providers take `temperature` or `top_p`, not both.
  ...((settings.topP === undefined || required.includes("temperature")) && {
    temperature: model.temperature ?? undefined,
  }),
  ...(model.reasoning && { reasoning: model.reasoning }),
  providerOptions: ownOptions(model, settings),
});

/** All that a model sends, read to its end. */
export async function readWhole(pieces: AsyncGenerator<Piece>) {
  let text = "";
  let isRefusal = false;
  let thought = "";
  const images: ImagePiece[] = [];
  const calls = new ToolCalls();
  let end: Pick<Finish, "usage" | "reason"> = { usage: {}, reason: "stop" };
  for await (const piece of pieces) {
    if (piece.type === "text") {
      text += piece.text;
      isRefusal ||= piece.isRefusal === true;
    } else if (piece.type === "reasoning") thought += piece.text;
    else if (piece.type === "mistaken") [text, thought] = ["", text];
    else if (piece.type === "finish") end = piece;
    else if (piece.type === "image") images.push(piece);
    else calls.take(piece);
  }
  return { text, isRefusal, thought, images, calls: calls.list, usage: end.usage, reason: end.reason };
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
      const told = replyError(error);
      if (!(told instanceof ReplyError) || told.kind !== "loading") throw error;
      if (Date.now() + loadedAgainAfter > until) throw told;
      await wait(loadedAgainAfter, undefined, { signal: options.abortSignal });
    }
  }
}

// Answers in a row in which a model has left out the opening tag of its thoughts: a single one may be an accident.
const untagged = new Map<string, number>();
const untaggedAfter = 2;

/** The parts of a library's stream, one by one. */
async function* readStream(stream: Stream, signal: AbortSignal): AsyncGenerator<LanguageModelV4StreamPart[]> {
  const reader = stream.getReader();
  // Some libraries ignore the request's signal once the body has begun.
  const cancel = () => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener("abort", cancel, { once: true });
  try {
    signal.throwIfAborted();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield [value];
    }
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

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
  const { base, query } = partsOfAddress(baseUrl ?? "");
  const settings = { apiKey: apiKey ?? "", fetch: fetchModel, ...(base && { baseURL: base }) };
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
        baseURL: provider === "ollama" ? `${base}/v1` : base,
        queryParams: query,
        apiKey: apiKey ?? undefined,
        // Azure takes a key under this name only.
        ...(apiKey && { headers: keyHeaders(apiKey, base) }),
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
