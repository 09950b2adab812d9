import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { createParser } from "eventsource-parser";
import { limits } from "../../../process/limits.ts";
import { digitsOf, listOf, parseJson, recordOf } from "../../../process/text/json.ts";
import { misspeltReason, ReplyError } from "../../errors.server.ts";
import { CallAssembly } from "./call-assembly.server.ts";
import { KeptFields, thoughtMark } from "./kept-fields.server.ts";

type Part = LanguageModelV4StreamPart;
type Fields = Record<string, unknown>;

/** A place on the web that a server names as the source of an answer; `n`: the number by which its text refers to it. */
export type Citation = { n: number; url: string; title: string };

/** Parts of an answer that the libraries do not know. */
export type Beside = { citations: Citation[] };

/**
 * Reads the stream of OpenAI's chat completions (platform.openai.com/docs/api-reference/chat-streaming), as its compatible servers
 * send it. The libraries' own readers pass each token through five streams and a schema, which is a third of what a reply costs:
 * here one read of the network is one step, so that tokens become cheaper the more there are. Answers the parts that each read
 * brings, under the libraries' names. `body` ends with the signal of its request; `heard` is called at each read; `beside` is filled
 * in. Throws ReplyError for an answer beyond all bounds.
 */
export async function* readCompletion(body: Readable, heard: () => void, beside: Beside): AsyncGenerator<Part[]> {
  let bytes = 0;
  const completion = new Completion(beside);
  const decoder = new TextDecoder();
  let late: NodeJS.Timeout | undefined;
  let isOver = false;
  try {
    for await (const read of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      heard();
      bytes += read.length;
      if (bytes > limits.modelAnswer) throw ReplyError.endless();
      const parts = completion.take(decoder.decode(read, { stream: true }));
      if (parts.length > 0) yield parts;
      if (completion.done) break;
      // Some servers keep the answer open after its end, without a word.
      clearTimeout(late);
      const within = completion.closesWithin;
      if (within !== undefined) {
        late = setTimeout(() => {
          isOver = true;
          body.destroy();
        }, within);
      }
    }
  } catch (error) {
    // A connection that is reset after the end takes nothing away.
    if (!isOver && !completion.hasEnded) throw error;
  } finally {
    clearTimeout(late);
  }
  yield completion.end();
  if (!body.readableEnded && !body.destroyed) await awaitEnd(body);
}

// In ms: how long the count of tokens may take after the reason for the end.
const countedWithin = 2_000;
// In ms: how long a server may pause that gives a reason with each chunk, or with the first.
const pausedWithin = 15_000;
// In ms. Some servers keep the answer open after their last word; the others end it with the same packet or the next.
const endedWithin = 100;

/** Lets an answer come to its end, so that its connection is there for the next message. */
async function awaitEnd(body: Readable): Promise<void> {
  body.resume();
  const late = new AbortController();
  const ended = finished(body, { signal: late.signal });
  const timeout = setTimeout(() => late.abort(), endedWithin);
  // Errors after the last word do not matter.
  await ended.catch(() => body.destroy());
  clearTimeout(timeout);
}

// The names under which servers send thoughts: DeepSeek, llama.cpp and vLLM; OpenRouter, Groq and Ollama; some gateways.
const thoughtFields = ["reasoning_content", "reasoning", "thinking", "reasoning_text"];
const citationsAtMost = 100;

class Completion {
  done = false;
  #read = false;
  #parts: Part[] = [];
  #refused = false;
  #reason: string | undefined;
  /** The stop sequence that the answer has ended at: vLLM's `stop_reason`, SGLang's `matched_stop`. */
  #stoppedAt: string | undefined;
  /** Whether the reason came by itself, after the answer: some servers give one with each chunk. */
  #isReasonLast = false;
  /** Whether the last event added nothing, as at the end of an answer without a reason. */
  #fellSilent = false;
  #usage: Fields = {};
  #hasDelta = false;
  /** The text so far, of how many pieces it is, and a piece that repeats it. */
  #said = "";
  #texts = 0;
  #held = "";
  /** Addresses of the pictures that have been said. */
  readonly #pictures = new Set<string>();
  /** How many pieces of text, thought, image or call have come. */
  #pieces = 0;
  /** The field in which its thoughts come. */
  #thoughtField: string | undefined;
  /** Whether the thought at hand has not been marked with its field yet. */
  #isThinking = false;
  readonly #calls = new CallAssembly();
  readonly #kept = new KeptFields();
  readonly #beside: Beside;
  readonly #events = createParser({
    onEvent: (event) => this.#event(event),
    // llama.cpp has sent errors as a field of their own name, and Ollama as a line of JSON.
    onError: ({ field, value, line }) => {
      if (field === "error") this.#event({ event: "error", data: value ?? "" });
      else if (line?.startsWith("{")) this.#event({ data: line });
    },
  });

  constructor(beside: Beside) {
    this.#beside = beside;
  }

  /** Whether the answer is whole: what comes after it, or does not come, no longer matters. */
  get hasEnded(): boolean {
    return this.#isReasonLast;
  }

  /** In ms, how long to wait for more; undefined as long as the server has given no reason for an end. */
  get closesWithin(): number | undefined {
    if (this.#reason === undefined) return undefined;
    return this.#isReasonLast ? countedWithin : pausedWithin;
  }

  take(text: string): Part[] {
    this.#events.feed(text);
    const parts = this.#parts;
    this.#parts = [];
    return parts;
  }

  /**
   * The end, if the server has given any sign of one: a reason, `[DONE]`, the count of tokens, or an event that says nothing more. If the
   * stream has only stopped, just the remaining parts. Throws if there was no event at all.
   */
  end(): Part[] {
    // Some servers leave out the blank line after the last event.
    const parts = this.take("\n\n");
    if (!this.#read) throw new Error("no event in an event stream");
    if (this.#reason === undefined && !this.done && !this.#fellSilent) return parts;
    const raw = this.#reason ?? "stop";
    // Gemini's door names the filter before the reason, gateways the type of Google's library.
    const bare = bareReason(raw);
    if (isFailed(bare)) return [...parts, { type: "error", error: { message: `finish_reason: ${raw}` } }];
    const reason = reasons.get(bare) ?? "other";
    const isRefusal = this.#refused && reason === "stop";
    return [
      ...parts,
      ...this.#signature(),
      ...this.#called(),
      {
        ...finish,
        finishReason: isRefusal ? { unified: "content-filter", raw: "refusal" } : { unified: reason, raw },
        usage: this.#tokens(),
        ...(this.#stoppedAt !== undefined && {
          providerMetadata: { openaiCompatible: { stopSequence: this.#stoppedAt } },
        }),
      },
    ];
  }

  /** Fields that the server wants back with the results of its calls. */
  #signature(): Part[] {
    const kept = this.#kept.all;
    const mark = this.#isThinking && this.#thoughtField ? { [thoughtMark]: this.#thoughtField } : {};
    const meta = { ...kept, ...mark };
    return Object.keys(meta).length > 0 ? [endOfThought(meta)] : [];
  }

  /** Marks a thought before the text that follows it: doors close a thought where a text begins. */
  #markThought(): void {
    if (this.#isThinking && this.#thoughtField) this.#parts.push(endOfThought({ [thoughtMark]: this.#thoughtField }));
    this.#isThinking = false;
  }

  #called(): Part[] {
    return this.#calls.list().map(({ id, name, input, kept }) => ({
      type: "tool-call",
      toolCallId: id,
      toolName: name,
      input,
      ...(kept && { providerMetadata: { openaiCompatible: kept as never } }),
    }));
  }

  #tokens() {
    const { prompt_tokens, input_tokens, completion_tokens, output_tokens, completion_tokens_details } = this.#usage;
    const written = completion_tokens ?? output_tokens ?? undefined;
    // Some servers count thoughts in the total alone.
    const rest = countIn(this.#usage.total_tokens) - countIn(prompt_tokens ?? input_tokens);
    const reasoning = recordOf(completion_tokens_details)?.reasoning_tokens ?? undefined;
    const hasMore = countIn(reasoning) > 0 && rest === countIn(written) + countIn(reasoning);
    const { prompt_tokens_details, prompt_cache_hit_tokens, cached_tokens, cache_read_input_tokens } = this.#usage;
    const cached = recordOf(prompt_tokens_details)?.cached_tokens;
    // The names of OpenAI, DeepSeek, Moonshot and LiteLLM.
    const cacheRead = cached ?? prompt_cache_hit_tokens ?? cached_tokens ?? cache_read_input_tokens ?? undefined;
    // The counts are checked in `Answer`.
    return {
      inputTokens: {
        total: numberOf(prompt_tokens ?? input_tokens),
        noCache: undefined,
        cacheRead: numberOf(cacheRead),
        cacheWrite: undefined,
      },
      outputTokens: {
        total: hasMore ? rest : numberOf(written),
        text: undefined,
        reasoning: numberOf(reasoning),
      },
    };
  }

  #event({ event, data }: { event?: string | undefined; data: string }): void {
    if (data.trim() === "[DONE]") {
      this.done = true;
      return;
    }
    const value = parsed(data);
    // Some servers write one event a line, without the blank lines that end them.
    if (value === undefined && event !== "error" && data.includes("\n")) {
      const lines = data.split("\n");
      if (lines.some((line) => recordOf(parsed(line)))) {
        for (const line of lines) this.#event({ event, data: line });
        return;
      }
    }
    const chunk = recordOf(value);
    if (event === "error" || chunk) this.#read = true;
    const error = event === "error" ? (chunk ?? data) : chunk && errorIn(chunk);
    // The error comes after the parts that this read has brought before it.
    if (error && !this.hasEnded) this.#parts.push({ type: "error", error: recordOf(error)?.error ?? error });
    // An event that is not JSON is lost; the rest of the answer is not.
    if (!chunk || error) return;
    const [choice, ...others] = listOf(chunk.choices).map(recordOf);
    const usage = recordOf(chunk.usage) ?? recordOf(recordOf(chunk.x_groq)?.usage) ?? recordOf(choice?.usage);
    // Some servers end with counts of zero.
    const counts = (given: Fields) => Object.values(given).some((value) => countIn(value) > 0);
    if (usage && (counts(usage) || !counts(this.#usage))) this.#usage = usage;
    const before = this.#pieces;
    if (choice) this.#choice(choice);
    // Copilot puts the calls of one answer into a second choice.
    for (const other of others) for (const call of listOf(recordOf(other?.delta)?.tool_calls)) this.#call(call);
    if (choice?.finish_reason) this.#isReasonLast = this.#pieces === before && before > 0;
    if (chunk.citations || chunk.search_results) this.#cite(chunk);
    const isLate = (usage !== undefined && choice === undefined) || choice?.finish_reason === "";
    this.#fellSilent = isLate && this.#pieces === before;
  }

  #choice(choice: Fields): void {
    if (typeof choice.finish_reason === "string" && choice.finish_reason) this.#reason = choice.finish_reason;
    // OpenRouter says `stop` of calls that Google has cut off.
    const native = choice.native_finish_reason;
    if (this.#reason && typeof native === "string" && isFailed(bareReason(native))) this.#reason = native;
    const stoppedAt = choice.stop_reason ?? choice.matched_stop;
    // The id of a token is a number.
    if (typeof stoppedAt === "string") this.#stoppedAt = stoppedAt;
    const delta = recordOf(choice.delta);
    if (delta) {
      this.#hasDelta = true;
      this.#delta(delta);
    }
    // A whole message counts only if no delta came before: after deltas it repeats them. `text`: OpenAI's older format.
    if (this.#hasDelta) return;
    const message =
      recordOf(choice.message) ?? (typeof choice.text === "string" ? { content: choice.text } : undefined);
    if (message) this.#delta(message);
  }

  /** Called for each token, so a field that most deltas lack costs only a check, and no object is made for it. */
  #delta(delta: Fields): void {
    const { content, refusal, tool_calls, function_call, images, annotations, audio } = delta;
    this.#think(delta);
    this.#kept.take(delta, thoughtFields);
    if (typeof content === "string") this.#say(content);
    else if (content !== undefined && content !== null) this.#sayParts(content);
    if (typeof refusal === "string" && refusal) this.#refuse(refusal);
    if (audio) this.#add("text-delta", recordOf(audio)?.transcript);
    if (images) for (const image of listOf(images)) this.#show(image);
    if (tool_calls) for (const call of Array.isArray(tool_calls) ? tool_calls : [tool_calls]) this.#call(call);
    if (function_call) this.#call(function_call);
    if (annotations) for (const annotation of listOf(annotations)) this.#annotate(annotation);
  }

  #call(given: unknown): void {
    this.#pieces++;
    const growing = this.#calls.add(given);
    // Calls are sent whole at the end: until then, the meaning of a piece from such a server is unknown.
    if (growing?.text) this.#parts.push({ type: "raw", rawValue: { growing } });
  }

  #think(delta: Fields): void {
    for (const field of thoughtFields) {
      // Some send the same thought under two names, one of them empty.
      const thought = delta[field] ? thoughtIn(delta[field]) : "";
      if (!thought) continue;
      if (typeof delta[field] === "string") this.#thoughtField ??= field;
      this.#add("reasoning-delta", thought);
      return;
    }
    for (const detail of listOf(delta.reasoning_details)) this.#add("reasoning-delta", thoughtIn(detail));
  }

  /** Content in parts, as Mistral sends it: `text`, `thinking`, images. */
  #sayParts(content: unknown): void {
    for (const item of Array.isArray(content) ? content : [content]) {
      const piece = recordOf(item);
      if (piece?.type === "thinking" || piece?.type === "reasoning") {
        this.#add("reasoning-delta", thoughtIn(piece.thinking ?? piece));
      } else if (piece?.type === "image_url") this.#show(piece);
      else this.#add("text-delta", piece ? textOf(piece) : (digitsOf(item) ?? (item === true ? "true" : item)));
    }
  }

  /** A place on the web beside the text (OpenRouter). Its number is its position among the citations. */
  #annotate(annotation: unknown): void {
    const cited = recordOf(recordOf(annotation)?.url_citation);
    const { citations } = this.#beside;
    if (!cited || citations.some(({ url }) => url === cited.url)) return;
    this.#addCitation(citations.length + 1, cited.url, cited.title);
  }

  #show(image: unknown): void {
    const url = recordOf(recordOf(image)?.image_url)?.url ?? recordOf(image)?.image_url;
    const [, mediaType, data] =
      /^data:(image\/[\w.+-]{1,40});base64,(.*)$/s.exec(typeof url === "string" ? url : "") ?? [];
    if (typeof url === "string" && /^https?:\/\/[^\s<>]{1,2000}$/i.test(url)) {
      if (this.#pictures.has(url)) return;
      this.#pictures.add(url);
      this.#add("text-delta", `\n\n<${url}>\n\n`);
      return;
    }
    if (!mediaType || !data) return;
    this.#pieces++;
    this.#parts.push({ type: "file", mediaType, data: { type: "data", data } });
  }

  /** Perplexity's `citations` and `search_results`, to which the numbers in the text refer. */
  #cite({ citations, search_results }: Fields): void {
    if (this.#beside.citations.length > 0) return;
    const results = listOf(search_results).map(recordOf);
    const urls = listOf(citations).length > 0 ? listOf(citations) : results.map((result) => result?.url);
    for (const [place, given] of urls.entries()) {
      const url = recordOf(given)?.url ?? given;
      const title =
        recordOf(given)?.title ?? results.find((result) => result?.url === url)?.title ?? results[place]?.title;
      this.#addCitation(place + 1, url, title);
    }
  }

  #addCitation(n: number, url: unknown, title: unknown): void {
    const { citations } = this.#beside;
    if (typeof url !== "string" || !/^https?:\/\//i.test(url) || url.length > 2_000) return;
    if (citations.length >= citationsAtMost) return;
    citations.push({ n, url, title: typeof title === "string" && title.trim() ? title.trim().slice(0, 300) : url });
  }

  /** Adds a piece of text. One that repeats the whole text waits: if nothing follows, it is the last event of a gateway that does so. */
  #say(content: string): void {
    if (content === "") return;
    const isRepeated = content.length >= repeatedFrom && this.#texts > 1 && content === this.#said;
    if (isRepeated && this.#held === "") {
      this.#held = content;
      return;
    }
    const more = this.#held + content;
    this.#held = "";
    this.#texts++;
    this.#said += more;
    this.#add("text-delta", more);
  }

  /** Adds text of a kind, to what came before of the same kind. */
  #add(type: "text-delta" | "reasoning-delta", text: unknown): void {
    if (typeof text !== "string" || text === "") return;
    this.#pieces++;
    if (type === "reasoning-delta") this.#isThinking = true;
    else this.#markThought();
    const last = this.#parts.at(-1);
    if (last?.type === type && !last.providerMetadata) last.delta += text;
    else this.#parts.push({ type, id: "0", delta: text });
  }

  #refuse(delta: string): void {
    this.#refused = true;
    this.#pieces++;
    this.#markThought();
    const providerMetadata = { openaiCompatible: { refusal: true } };
    this.#parts.push({ type: "text-delta", id: "0", delta, providerMetadata });
  }
}

// In characters: a shorter piece may well be said twice.
const repeatedFrom = 20;

const finish = { type: "finish" as const };

const endOfThought = (meta: Fields): Part => ({
  type: "reasoning-end",
  id: "0",
  providerMetadata: { openaiCompatible: meta as never },
});

/** A number that can be added; 0 for anything else. */
const numberOf = (said: unknown): number | undefined => (typeof said === "number" ? said : undefined);
const countIn = (said: unknown): number => numberOf(said) ?? 0;

/** The text of a part, of any type; an object without a type as its JSON, as some servers parse answers that are JSON. */
function textOf(part: Fields): unknown {
  const isPart = "type" in part || Object.keys(part).every((name) => ["text", "index", "annotations"].includes(name));
  return isPart ? part.text : JSON.stringify(part);
}

/** The text of a thought: as it is, or in an object or a list of Mistral's or OpenRouter's. */
function thoughtIn(given: unknown): string {
  if (typeof given === "string") return given;
  if (Array.isArray(given)) return given.map(thoughtIn).join("");
  const fields = recordOf(given);
  const said = fields?.text ?? fields?.content ?? fields?.summary ?? fields?.thinking;
  return typeof said === "string" ? said : "";
}

/** The error that an event tells, in the shapes of OpenAI, vLLM, OpenRouter, FastAPI and others. */
function errorIn(chunk: Fields): unknown {
  const { error, choices, object, type, detail, message, code, base_resp } = chunk;
  if (typeof error === "string" ? error : Object.keys(recordOf(error) ?? {}).length > 0) return error;
  const own = recordOf(recordOf(listOf(choices)[0])?.error);
  if (own) return own;
  if (object === "error" || type === "error" || (recordOf(base_resp)?.status_code ?? 0) !== 0) return chunk;
  const isBare = choices === undefined && (detail !== undefined || (typeof message === "string" && code !== undefined));
  return isBare ? chunk : undefined;
}

function parsed(data: string): unknown {
  try {
    return parseJson(data);
  } catch {
    return undefined;
  }
}

const reasons = new Map<string, "stop" | "length" | "content-filter" | "tool-calls">([
  ["stop", "stop"],
  ["eos", "stop"],
  ["eos_token", "stop"],
  ["end_turn", "stop"],
  ["stop_sequence", "stop"],
  ["length", "length"],
  ["max_tokens", "length"],
  ["model_length", "length"],
  ["max_output_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["content_filter", "content-filter"],
  ["safety", "content-filter"],
  ["recitation", "content-filter"],
  ["prohibited_content", "content-filter"],
  ["blocklist", "content-filter"],
  ["spii", "content-filter"],
  ["image_safety", "content-filter"],
  ["sensitive", "content-filter"],
  ["function_call", "tool-calls"],
  ["tool_calls", "tool-calls"],
  ["tool_use", "tool-calls"],
]);

const bareReason = (raw: string) =>
  raw
    .toLowerCase()
    .replace(/^finish_?reason\./, "")
    .replace(/^[a-z_]{1,40}:\s{0,4}/, "")
    .replaceAll("-", "_");

/** Whether a reason is a failure: the answer is not whole. */
const isFailed = (bare: string) =>
  /error|abort|cancel/.test(bare) ||
  misspeltReason.test(bare) ||
  ["engine_overloaded", "insufficient_system_resource"].includes(bare);
