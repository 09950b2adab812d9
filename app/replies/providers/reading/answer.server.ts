import { randomUUID } from "node:crypto";
import {
  JSONParseError,
  type LanguageModelV4File,
  type LanguageModelV4FinishReason,
  type LanguageModelV4StreamPart,
  type SharedV4ProviderMetadata,
  TypeValidationError,
} from "@ai-sdk/provider";
import { limits } from "../../../process/limits.ts";
import { recordOf } from "../../../process/text/json.ts";
import { misspeltReason, ReplyError } from "../../errors.server.ts";
import type { ProviderMeta } from "../../tools/call.ts";
import type { CallStretch, FinishReason, OfferedTool, Piece } from "../model-call.server.ts";
import type { IsText, WrittenCall } from "./call-dialects.server.ts";
import { type Stretch, Thoughts } from "./thoughts.server.ts";
import { WholeCharacters } from "./whole-characters.server.ts";
import { type WithCalls, WrittenCalls } from "./written-calls.server.ts";
import { type Written, WrittenImages } from "./written-images.server.ts";

type Unified = LanguageModelV4FinishReason["unified"];

/** Whether an answer that ends so is whole. The libraries invent an end when the stream breaks off: `other` without the server's own word. */
const isWhole: Record<Unified, boolean | "if said"> = {
  stop: true,
  length: true,
  "content-filter": true,
  "tool-calls": true,
  error: false,
  interrupted: false,
  other: "if said",
};

const reasonOf = (unified: Unified, hasCalled: boolean) => {
  if (unified === "length") return "length";
  if (unified === "content-filter") return "content_filter";
  // Some servers give `stop` as the reason even after calls.
  return hasCalled ? "tool_calls" : "stop";
};

// More than any window has: a larger number is not a count of tokens.
const tokensAtMost = 100_000_000;

/** A count of tokens as a server said it; undefined for what is no count, such as −1, 1.5 or "12". */
const tokensOf = (said: unknown): number | undefined =>
  Number.isInteger(said) && Number(said) >= 0 && Number(said) <= tokensAtMost ? Number(said) : undefined;

type Reading = {
  untagged: boolean;
  tools: readonly OfferedTool[];
  writesCalls: boolean;
  mayBeEmpty: readonly FinishReason[];
  tellsGrowth: boolean;
};

/** One answer of a model as it comes from a provider's library: its thoughts, its text and its end. */
export class Answer {
  /** Characters of text and of calls. */
  length = 0;
  finished = false;
  /** Whether its thoughts have turned out to have no opening tag. */
  mistook = false;
  readonly #untagged: boolean;
  readonly #thoughts: Thoughts;
  readonly #text = new WholeCharacters();
  readonly #reasoning = new WholeCharacters();
  readonly #written = new WrittenImages();
  readonly #writtenCalls: WrittenCalls;
  readonly #thoughtCalls: WrittenCalls;
  /** Calls with which the thought ends so far: some models write them before they end it. */
  #lastInThought: WrittenCall[] = [];
  #thoughtLength = 0;
  /** Thought of a model that is known to leave out the opening tag: without the closing one, it is the answer. */
  #unclosed = "";
  /** Whether any of its text is more than blanks. */
  #hasText = false;
  /** Data of the images that have come, as some servers send each again at the end. */
  readonly #images = new Set<string | Uint8Array>();
  /** Whether something came that can't be shown. */
  #isUnshown = false;
  /** The first event that could not be read. */
  #misread: Error | undefined;
  readonly #offered: readonly string[];
  readonly #mayBeEmpty: readonly FinishReason[];
  readonly #tellsGrowth: boolean;
  readonly #writesCalls: boolean;
  /** Calls in the text, as long as only blanks follow; with text behind them, they are spoken of or quoted. */
  #atEnd: { calls: WrittenCall[]; whole: string }[] = [];
  /** The calls by their ids, in order: their place, and whether any of their input has come. */
  readonly #calls = new Map<string, { index: number; input: WholeCharacters; hasInput: boolean }>();

  /**
   * `untagged`: the model is known to leave out the opening tag of its thoughts. `tools`: those that were offered to it. `writesCalls`: its
   * server may pass on as text what the model has written to call one. `mayBeEmpty`: reasons for an end without a word that are no failure.
   * `tellsGrowth`: calls are told of while they are written.
   */
  constructor({ untagged, tools, writesCalls, mayBeEmpty, tellsGrowth }: Reading) {
    const offered = tools.map(({ name }) => name);
    this.#tellsGrowth = tellsGrowth;
    this.#untagged = untagged;
    this.#offered = offered;
    this.#writesCalls = writesCalls && offered.length > 0;
    this.#mayBeEmpty = mayBeEmpty;
    this.#thoughts = new Thoughts({ untagged });
    this.#writtenCalls = new WrittenCalls(offered, isTextOf(tools));
    this.#thoughtCalls = new WrittenCalls(offered, isTextOf(tools));
  }

  /** Whether it has said anything. */
  get begun(): boolean {
    return this.length + this.#thoughtLength + this.#images.size > 0;
  }

  /** Whether the answer ended within a thought, although its model was taken for one that leaves out the opening tag. */
  get onlyThought(): boolean {
    return this.#untagged && this.finished && this.#thoughts.isInside;
  }

  get #isWordless(): boolean {
    return !this.#hasText && this.#calls.size === 0;
  }

  /** Pieces that a part of the stream adds. Throws the library's error, and a ReplyError for an end without a text. */
  *read(part: LanguageModelV4StreamPart): Generator<Piece> {
    if (part.type === "error") return this.#fail(part.error);
    if (part.type === "file") yield* this.#show(part);
    if (part.type === "reasoning-delta")
      yield* this.#count([{ type: "reasoning", text: this.#reasoning.add(part.delta) }]);
    if (part.type === "reasoning-delta" || part.type === "reasoning-end") {
      const meta = signatureOf(part.providerMetadata);
      if (meta) yield { type: "signed", meta };
    }
    // A redacted thought of Anthropic's has no other part.
    if (part.type === "reasoning-start" && part.providerMetadata?.anthropic?.redactedData) {
      yield { type: "signed", meta: { anthropic: part.providerMetadata.anthropic }, isHidden: true };
    }
    if (part.type === "text-delta") {
      const isRefusal = part.providerMetadata?.openaiCompatible?.refusal === true;
      yield* isRefusal ? this.#refuse(part.delta) : this.#count(this.#split(this.#text.add(part.delta)));
    }
    const mayCall = this.#offered.length > 0;
    if (mayCall) yield* this.#call(part);
    if (mayCall && this.#tellsGrowth && part.type === "raw") yield* growthIn(part.rawValue);
    if (part.type !== "finish") return;
    yield* this.#count([...this.#split(this.#text.rest()), ...this.#noted(this.#thoughts.rest())]);
    yield* this.#sayWithCalls(this.#writtenCalls.rest());
    yield* this.#say(this.#written.rest());
    yield* this.#callLast();
    const isCut = part.finishReason.unified === "length";
    if (this.#untagged && this.#thoughts.isInside && this.#isWordless && !isCut)
      yield* this.#say([{ text: this.#unclosed }]);
    this.finished = true;
    const { finishReason, usage } = part;
    const { unified, raw } = finishReason;
    if (!this.begun && raw && misspeltReason.test(raw)) throw ReplyError.of("misspelt-call");
    if (!isWhole[unified] || (isWhole[unified] === "if said" && raw === undefined)) {
      throw this.begun || !this.#misread ? ReplyError.cut() : this.#misread;
    }
    const refused = raw === "refusal";
    const hasCalled = this.#calls.size > 0;
    if (this.#isWordless && this.#images.size === 0 && !this.#mayBeEmpty.includes(reasonOf(unified, hasCalled))) {
      this.#refuseWordless(finishReason);
    }
    yield {
      type: "finish",
      usage: {
        inputTokens: tokensOf(usage.inputTokens.total),
        outputTokens: tokensOf(usage.outputTokens.total),
        reasoningTokens: tokensOf(usage.outputTokens.reasoning),
        cachedTokens: tokensOf(usage.inputTokens.cacheRead),
        writtenTokens: tokensOf(usage.inputTokens.cacheWrite),
      },
      reason: reasonOf(unified, hasCalled),
      ...stoppedAt(part.providerMetadata),
      ...(this.#isUnshown && { note: "El modelo ha enviado además un archivo, que aquí no se enseña." }),
      ...(unified === "length" && { note: "La respuesta ha llegado a la longitud máxima de este modelo." }),
      // A refusal is a complete answer.
      ...(unified === "content-filter" &&
        !refused && { note: "El proveedor ha cortado la respuesta con su filtro de contenido." }),
    };
  }

  /** An image that came with its data; an image at an address is not fetched on the word of a model. */
  *#show({ mediaType, data: given }: LanguageModelV4File): Generator<Piece> {
    const data = given.type === "data" && mediaType.startsWith("image/") ? given.data : undefined;
    if (data === undefined || this.#images.size >= limits.filesPerMessage) {
      this.#isUnshown = true;
    } else if (!this.#images.has(data)) {
      this.#images.add(data);
      yield { type: "image", mediaType, bytes: typeof data === "string" ? Buffer.from(data, "base64") : data };
    }
  }

  /** An event that the library can't read is lost, but the answer goes on: providers add kinds of events. Throws any other failure. */
  #fail(error: unknown): void {
    if (!TypeValidationError.isInstance(error) && !JSONParseError.isInstance(error)) throw error;
    this.#misread ??= error;
  }

  /** Pieces that a part of the stream adds to the calls. Some providers send a call's input as it is written, others only whole. */
  *#call(part: LanguageModelV4StreamPart): Generator<CallStretch> {
    // A tool of the provider's own is not called here.
    if (part.type === "tool-input-start" && !part.providerExecuted) yield* this.#begin(part.id, part.toolName);
    else if (part.type === "tool-input-delta") yield* this.#addInput(part.id, part.delta);
    else if (part.type === "tool-call" && !part.providerExecuted) {
      yield* this.#begin(part.toolCallId, part.toolName);
      const call = this.#calls.get(part.toolCallId);
      if (!call?.hasInput) yield* this.#addInput(part.toolCallId, part.input);
      const meta = signatureOf(part.providerMetadata);
      if (call && meta) yield { type: "call-signed", index: call.index, meta };
    }
  }

  *#begin(id: string, said: string): Generator<CallStretch> {
    if (this.#calls.has(id)) return;
    const index = this.#calls.size;
    const name = nameOf(said, this.#offered);
    // A model that calls for ever is cut off like one that writes for ever.
    this.length += name.length;
    this.#calls.set(id, { index, input: new WholeCharacters(), hasInput: false });
    yield { type: "call", index, id, name };
  }

  *#addInput(id: string, delta: string): Generator<CallStretch> {
    const call = this.#calls.get(id);
    const text = call?.input.add(delta);
    if (!call || !text) return;
    call.hasInput = true;
    this.length += text.length;
    yield { type: "call-input", index: call.index, text };
  }

  #refuseWordless({ unified, raw }: LanguageModelV4FinishReason): never {
    if (raw === "refusal") throw ReplyError.wordless("refusal");
    if (unified === "length" || unified === "content-filter" || unified === "tool-calls") {
      throw ReplyError.wordless(unified);
    }
    if (this.#isUnshown) throw ReplyError.wordless("file");
    throw this.#thoughtLength > 0 ? ReplyError.wordless("thought") : ReplyError.empty();
  }

  #split = (piece: string): Stretch[] => this.#noted(this.#thoughts.split(piece));

  #noted(stretches: Stretch[]): Stretch[] {
    if (this.#untagged) for (const one of stretches) if (one.type === "reasoning") this.#unclosed += one.text;
    return stretches;
  }

  *#say(parts: Written[]): Generator<Piece> {
    for (const part of parts) {
      if ("data" in part) {
        yield* this.#show({ type: "file", mediaType: part.mediaType, data: { type: "data", data: part.data } });
      } else if (part.text) {
        this.length += part.text.length;
        this.#hasText ||= /\S/.test(part.text);
        yield { type: "text", text: part.text };
      }
    }
  }

  *#refuse(delta: string): Generator<Piece> {
    const text = this.#text.add(delta);
    this.length += text.length;
    this.#hasText ||= /\S/.test(text);
    if (text) yield { type: "text", text, isRefusal: true };
  }

  *#sayWithCalls(parts: WithCalls[]): Generator<Piece> {
    for (const part of parts) {
      if ("calls" in part) {
        this.#atEnd.push(part);
        continue;
      }
      const isBehind = this.#atEnd.length > 0;
      if (isBehind && leftovers.test(part.text)) {
        this.#atEnd.push({ calls: [], whole: part.text });
        continue;
      }
      const before = this.#atEnd.map(({ whole }) => whole).join("");
      this.#atEnd = [];
      yield* this.#say(this.#written.split(before + part.text));
    }
  }

  /** Makes the calls with which the text ends, or the thought of an answer without a text. */
  *#callLast(): Generator<Piece> {
    this.#noteCalls(this.#thoughtCalls.rest());
    // A server may send the same calls also in their own fields.
    if (this.#calls.size === 0) yield* this.#callWritten(this.#atEnd.flatMap(({ calls }) => calls));
    if (this.#isWordless) yield* this.#callWritten(this.#lastInThought);
  }

  *#callWritten(calls: WrittenCall[]): Generator<Piece> {
    for (const call of calls) {
      const id = `call_${randomUUID().slice(0, 8)}`;
      yield* this.#begin(id, call.name);
      yield* this.#addInput(id, call.input);
    }
  }

  #noteCalls(parts: WithCalls[]): void {
    for (const part of parts) {
      if ("calls" in part) this.#lastInThought.push(...part.calls);
      else if (/\S/.test(part.text)) this.#lastInThought = [];
    }
  }

  *#count(stretches: Stretch[]): Generator<Piece> {
    for (const stretch of stretches) {
      if (stretch.type === "mistaken") {
        this.mistook = true;
        this.#hasText = false;
        yield stretch;
      } else if (stretch.type === "text") {
        const { text } = stretch;
        yield* this.#sayWithCalls(this.#writesCalls ? this.#writtenCalls.split(text) : [{ text }]);
      } else {
        const room = limits.reasoning - this.#thoughtLength;
        this.#thoughtLength += stretch.text.length;
        // An endless thought is kept up to this length; the rest is dropped.
        const text = stretch.text.slice(0, Math.max(0, room));
        if (text && this.#writesCalls) this.#noteCalls(this.#thoughtCalls.split(text));
        if (text) yield { type: "reasoning", text };
      }
    }
  }
}

// Marks that stay behind a call where the server knows only a part of them.
const leftovers = /^(?:\s|<\/tool_call>|<\|im_end\|>|<\|tool_response>)*$/;

/** Whether a parameter is a text by the schema of its tool. */
const isTextOf =
  (tools: readonly OfferedTool[]): IsText =>
  (tool, parameter) => {
    const schema = recordOf(tools.find(({ name }) => name === tool)?.inputSchema);
    return recordOf(recordOf(schema?.properties)?.[parameter])?.type === "string";
  };

/**
 * Name of the offered tool that a model means: some leave marks of harmony or of their template behind it, a namespace before it, or
 * blanks around it. Else the name in the characters that all servers take back.
 */
function nameOf(said: string, offered: readonly string[]): string {
  const bare = said.replace(/<.*$/s, "").trim();
  const own = bare.replace(/^(?:functions|default_api|tools?)[.:/]/, "");
  return [said, bare, own].find((name) => offered.includes(name)) ?? own.replace(/[^\w-]/g, "_").slice(0, 64);
}

/** The piece for a call that `readCompletion` has not read whole. */
function* growthIn(raw: unknown): Generator<Piece> {
  const growing = recordOf(recordOf(raw)?.growing);
  if (growing) yield { type: "call-growing", name: String(growing.name), text: String(growing.text) };
}

/** The stop sequence that a server says it has met. */
function stoppedAt(given: SharedV4ProviderMetadata | undefined): { stopSequence?: string } {
  const stopSequence = given?.anthropic?.stopSequence ?? given?.openaiCompatible?.stopSequence;
  return typeof stopSequence === "string" && stopSequence ? { stopSequence } : {};
}

// Providers that refuse the next step without the data that they sent with this one. OpenAI's data is of use only if it holds the thought
// itself, encrypted: its ids name thoughts that OpenAI would have stored.
const signing = ["anthropic", "google", "openai", "openaiCompatible"] as const;

function signatureOf(given: SharedV4ProviderMetadata | undefined): ProviderMeta | undefined {
  const kept = signing.flatMap((name) => {
    const meta = given?.[name];
    return meta && (name !== "openai" || meta.reasoningEncryptedContent) ? [[name, meta] as const] : [];
  });
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}
