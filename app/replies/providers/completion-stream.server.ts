import type { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { createParser } from "eventsource-parser";
import { limits } from "../../process/limits.ts";
import { ReplyError } from "../errors.server.ts";

type Part = LanguageModelV4StreamPart;

/** What a chunk of a chat completion may hold, as far as it is read. Servers of many kinds send it: nothing in it is sure. */
type Chunk = {
  error?: unknown;
  choices?: ({ delta?: Delta | null; finish_reason?: string | null } | null)[];
  usage?: Usage | null;
};
type Delta = {
  content?: string | Content[] | null;
  reasoning_content?: unknown;
  reasoning?: unknown;
  refusal?: unknown;
  tool_calls?: (CallDelta | null)[] | null;
};
type CallDelta = {
  index?: number | null;
  id?: string | null;
  function?: { name?: string | null; arguments?: unknown } | null;
};
/** Mistral's content, in pieces of two kinds. */
type Content = { type?: string; text?: unknown; thinking?: { text?: unknown }[] } | null;
type Usage = {
  prompt_tokens?: number | null;
  completion_tokens?: number | null;
  completion_tokens_details?: { reasoning_tokens?: number | null } | null;
};

/**
 * Reads the stream of OpenAI's chat completions (platform.openai.com/docs/api-reference/chat-streaming), as its compatible servers
 * send it. The libraries' own readers pass each token through five streams and a schema, which is a third of what a reply costs:
 * here one read of the network is one step, so that tokens become cheaper the more there are. Answers the parts that each read
 * brings, under the libraries' names. `body` ends with the signal of its request; `heard` is called at each read. Throws ReplyError
 * for an answer beyond all bounds.
 */
export async function* readCompletion(body: Readable, heard: () => void): AsyncGenerator<Part[]> {
  let bytes = 0;
  const completion = new Completion();
  const decoder = new TextDecoder();
  for await (const read of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    heard();
    bytes += read.length;
    if (bytes > limits.modelAnswer) throw ReplyError.endless();
    const parts = completion.take(decoder.decode(read, { stream: true }));
    if (parts.length > 0) yield parts;
    if (completion.done) break;
  }
  yield completion.end();
  if (!body.readableEnded) await awaitEnd(body);
}

// In ms. Some servers keep the answer open after their last word; the others end it with the same packet or the next.
const endedWithin = 100;

/** Lets an answer come to its end, so that its connection is there for the next message. */
async function awaitEnd(body: Readable): Promise<void> {
  body.resume();
  const late = new AbortController();
  const ended = finished(body, { signal: late.signal });
  const timeout = setTimeout(() => late.abort(), endedWithin);
  // What goes wrong after the last word does not matter.
  await ended.catch(() => body.destroy());
  clearTimeout(timeout);
}

class Completion {
  done = false;
  #read = false;
  #parts: Part[] = [];
  #refused = false;
  #reason: string | undefined;
  #usage: Usage = {};
  /** The ids of calls by their index. */
  readonly #calls = new Map<number, string>();
  readonly #events = createParser({ onEvent: ({ data }) => this.#event(data) });

  take(text: string): Part[] {
    this.#events.feed(text);
    const parts = this.#parts;
    this.#parts = [];
    return parts;
  }

  /** The end, if the server has said that it is one; nothing if the stream has only stopped. Throws if there was none at all. */
  end(): Part[] {
    if (!this.#read) throw new Error("no event in an event stream");
    if (this.#reason === undefined) return [];
    const { prompt_tokens, completion_tokens, completion_tokens_details } = this.#usage;
    const reason = reasons.get(this.#reason) ?? "other";
    const unified = this.#refused && reason === "stop" ? "content-filter" : reason;
    const none = { noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
    const usage = {
      inputTokens: { ...none, total: prompt_tokens ?? undefined },
      outputTokens: {
        total: completion_tokens ?? undefined,
        text: undefined,
        reasoning: completion_tokens_details?.reasoning_tokens ?? undefined,
      },
    };
    return [{ type: "finish", finishReason: { unified, raw: this.#reason }, usage }];
  }

  #event(data: string): void {
    if (data === "[DONE]") {
      this.done = true;
      return;
    }
    this.#read = true;
    const { error, choices, usage } = chunkOf(data);
    // It comes after what this read has brought before it.
    if (error) this.#parts.push({ type: "error", error });
    if (usage) this.#usage = usage;
    const [choice] = choices ?? [];
    if (choice?.finish_reason) this.#reason = choice.finish_reason;
    if (choice?.delta) this.#delta(choice.delta);
  }

  #delta({ content, reasoning_content, reasoning, refusal, tool_calls }: Delta): void {
    this.#add("reasoning-delta", reasoning_content ?? reasoning);
    if (Array.isArray(content)) {
      for (const one of content) {
        if (one?.type === "text") this.#add("text-delta", one.text);
        else if (one?.type === "thinking")
          for (const { text } of one.thinking ?? []) this.#add("reasoning-delta", text);
      }
    } else this.#add("text-delta", content);
    if (refusal) {
      this.#refused = true;
      this.#add("text-delta", refusal);
    }
    for (const call of tool_calls ?? []) if (call) this.#call(call, this.#indexOf(call));
  }

  /** Where no index is given, a name begins a call, unless it comes with the id of one; what has neither goes on with the last. */
  #indexOf({ index, id, function: called }: CallDelta): number {
    if (index != null) return index;
    const known = [...this.#calls].find(([, one]) => one === id);
    if (known) return known[0];
    return called?.name ? this.#calls.size : this.#calls.size - 1;
  }

  /** A call begins with its name; what follows at the same index is more of its input. Some servers leave out index and id. */
  #call({ id, function: called }: CallDelta, index: number): void {
    let current = this.#calls.get(index);
    if (called?.name && (!current || (id && id !== current))) {
      current = id || `call_${crypto.randomUUID()}`;
      this.#calls.set(index, current);
      this.#parts.push({ type: "tool-input-start", id: current, toolName: called.name });
    }
    if (!current || !called?.arguments) return;
    const delta = typeof called.arguments === "string" ? called.arguments : JSON.stringify(called.arguments);
    this.#parts.push({ type: "tool-input-delta", id: current, delta });
  }

  /** Adds text of a kind, to what came before of the same kind. */
  #add(type: "text-delta" | "reasoning-delta", text: unknown): void {
    if (typeof text !== "string" || text === "") return;
    const last = this.#parts.at(-1);
    if (last?.type === type) last.delta += text;
    else this.#parts.push({ type, id: "0", delta: text });
  }
}

function chunkOf(data: string): Chunk {
  try {
    return JSON.parse(data) as Chunk;
  } catch (error) {
    return { error };
  }
}

const reasons = new Map<string, "stop" | "length" | "content-filter" | "tool-calls">([
  ["stop", "stop"],
  ["length", "length"],
  ["content_filter", "content-filter"],
  ["function_call", "tool-calls"],
  ["tool_calls", "tool-calls"],
]);
