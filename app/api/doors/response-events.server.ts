import { listOf, objectOf, recordOf } from "../../process/text/json.ts";
import type { ReplyUsage } from "../../replies/chunk.ts";
import type { Piece } from "../../replies/providers/model-call.server.ts";
import type { ToolKinds } from "./response-request.server.ts";
import type { ThoughtSeal } from "./thoughts/sealed-thoughts.server.ts";

type Text = { type: "output_text"; text: string; annotations: never[]; logprobs: never[] };
type Refusal = { type: "refusal"; refusal: string };
type Summary = { type: "summary_text"; text: string };
type Ended = "in_progress" | "completed" | "incomplete";
export type OutputItem =
  | { type: "message"; id: string; status: Ended; role: "assistant"; content: (Text | Refusal)[] }
  | { type: "reasoning"; id: string; summary: Summary[]; encrypted_content?: string }
  | {
      type: "function_call";
      id: string;
      call_id: string;
      name: string;
      namespace?: string;
      arguments: string;
      status: Ended;
    }
  | { type: "custom_tool_call"; id: string; call_id: string; name: string; input: string }
  | { type: "image_generation_call"; id: string; status: "completed"; result: string };

export type ResponseUsage = {
  input_tokens: number;
  input_tokens_details: { cached_tokens: number };
  output_tokens: number;
  output_tokens_details: { reasoning_tokens: number };
  total_tokens: number;
};

/** An answer as it has come: its items, and why it ended. */
export type Output = {
  items: OutputItem[];
  usage: ResponseUsage;
  /** Undefined for an answer that is whole. */
  incomplete: { reason: "max_output_tokens" | "content_filter" } | undefined;
};

type Event = { type: string } & Record<string, unknown>;
type Message = Extract<OutputItem, { type: "message" }>;
type Reasoning = Extract<OutputItem, { type: "reasoning" }>;
type OpenCall = { at: number; name: string; callId: string; input: string };

type Counted = { [Name in keyof ReplyUsage]?: number | null | undefined };

/** The usage of a response, in OpenAI's names; a count that is not known is 0. */
export function responseUsage({ inputTokens, outputTokens, reasoningTokens, cachedTokens }: Counted) {
  return {
    input_tokens: inputTokens ?? 0,
    input_tokens_details: { cached_tokens: cachedTokens ?? 0 },
    output_tokens: outputTokens ?? 0,
    output_tokens_details: { reasoning_tokens: reasoningTokens ?? 0 },
    total_tokens: (inputTokens ?? 0) + (outputTokens ?? 0),
  };
}

/** The words of a message's part, of a refusal too. */
export const partText = (part: Text | Refusal): string => (part.type === "refusal" ? part.refusal : part.text);

/** The events of an item that is stored; a message has its text in one piece. */
export function storedEvents(
  item: { type: string; id: string; [field: string]: unknown },
  output_index: number,
): Event[] {
  const done = { type: "response.output_item.done", output_index, item };
  if (item.type !== "message") return [{ type: "response.output_item.added", output_index, item }, done];
  const parts = listOf(item.content).flatMap((part, content_index) => {
    const place = { item_id: item.id, output_index, content_index };
    const { type, text } = recordOf(part) ?? {};
    const ended = { type: "response.content_part.done", ...place, part };
    if (type !== "output_text") return [{ type: "response.content_part.added", ...place, part }, ended];
    return [
      { type: "response.content_part.added", ...place, part: { ...recordOf(part), text: "" } },
      { type: "response.output_text.delta", ...place, delta: text, logprobs: [] },
      { type: "response.output_text.done", ...place, text, logprobs: [] },
      ended,
    ];
  });
  const begun = { ...item, status: "in_progress", content: [] };
  return [{ type: "response.output_item.added", output_index, item: begun }, ...parts, done];
}

/** Puts a model's pieces together as items of a response, and yields the events of the response's stream. `id`: hexadecimal. */
export class ResponseOutput {
  readonly items: OutputItem[] = [];
  #usage: Partial<ReplyUsage> = {};
  #incomplete: Output["incomplete"];
  /** The message or thought that is being written: the last item. */
  #open: Message | Reasoning | undefined;
  readonly #calls = new Map<number, OpenCall>();
  readonly #id: string;
  readonly #kinds: ToolKinds;
  readonly #seal: ThoughtSeal;
  /** Whether thoughts are signed, for the program's next request. With tools of the house, the program does not get all steps. */
  readonly #isSigned: boolean;

  constructor({ id, kinds, seal, isSigned }: { id: string; kinds: ToolKinds; seal: ThoughtSeal; isSigned: boolean }) {
    this.#id = id;
    this.#kinds = kinds;
    this.#seal = seal;
    this.#isSigned = isSigned;
  }

  get result(): Output {
    return { items: this.items, usage: responseUsage(this.#usage), incomplete: this.#incomplete };
  }

  *take(piece: Piece): Generator<Event> {
    switch (piece.type) {
      case "text":
        return yield* piece.isRefusal ? this.#refuse(piece.text) : this.#write(piece.text);
      case "reasoning":
        return yield* this.#think(piece.text);
      case "mistaken":
        return yield* this.#mistake();
      case "signed":
        if (!this.#isSigned) return;
        if (piece.isHidden || this.#open?.type !== "reasoning") yield* this.#beginThought();
        if (this.#open?.type === "reasoning") this.#open.encrypted_content = this.#seal.close({ meta: piece.meta });
        return yield* this.#close();
      case "image": {
        yield* this.#close();
        const result = Buffer.from(piece.bytes).toString("base64");
        const at = this.items.length;
        const item = {
          type: "image_generation_call" as const,
          id: this.#itemId("ig"),
          status: "completed" as const,
          result,
        };
        this.items.push(item);
        yield { type: "response.output_item.added", output_index: at, item };
        return yield { type: "response.output_item.done", output_index: at, item };
      }
      case "call":
        return yield* this.#call(piece.index, piece.id, piece.name);
      case "call-input":
        return yield* this.#addInput(piece.index, piece.text);
      case "call-signed": {
        const call = this.#calls.get(piece.index);
        if (!call || !this.#isSigned) return;
        yield* this.#beginThought();
        if (this.#open?.type === "reasoning") {
          this.#open.encrypted_content = this.#seal.close({ meta: piece.meta, callId: call.callId });
        }
        return yield* this.#close();
      }
      case "finish":
        this.#usage = piece.usage;
        if (piece.reason === "length") this.#incomplete = { reason: "max_output_tokens" };
        if (piece.reason === "content_filter" && !this.#isRefused) this.#incomplete = { reason: "content_filter" };
        yield* this.#close();
        for (const call of this.#calls.values()) yield* this.#endCall(call);
    }
  }

  #itemId = (kind: string) => `${kind}_${this.#id}_${this.items.length}`;

  *#write(delta: string): Generator<Event> {
    let part = this.#openPart;
    if (part?.type !== "output_text") {
      part = { type: "output_text", text: "", annotations: [], logprobs: [] };
      yield* this.#beginMessage(part);
    }
    part.text += delta;
    yield { type: "response.output_text.delta", ...this.#contentPlace, delta, logprobs: [] };
  }

  *#refuse(delta: string): Generator<Event> {
    let part = this.#openPart;
    if (part?.type !== "refusal") {
      part = { type: "refusal", refusal: "" };
      yield* this.#beginMessage(part);
    }
    part.refusal += delta;
    yield { type: "response.refusal.delta", ...this.#contentPlace, delta };
  }

  *#beginMessage(part: Text | Refusal): Generator<Event> {
    yield* this.#close();
    const id = this.#itemId("msg");
    this.#open = { type: "message", id, status: "in_progress", role: "assistant", content: [part] };
    this.items.push(this.#open);
    yield { type: "response.output_item.added", ...this.#place, item: { ...this.#open, content: [] } };
    yield { type: "response.content_part.added", ...this.#contentPlace, part: { ...part } };
  }

  *#think(delta: string): Generator<Event> {
    if (this.#open?.type !== "reasoning") yield* this.#beginThought();
    if (this.#open?.type !== "reasoning") return;
    let [part] = this.#open.summary;
    if (!part) {
      part = { type: "summary_text", text: "" };
      this.#open.summary.push(part);
      yield { type: "response.reasoning_summary_part.added", ...this.#summaryPlace, part: { ...part } };
    }
    part.text += delta;
    yield { type: "response.reasoning_summary_text.delta", ...this.#summaryPlace, delta };
  }

  *#beginThought(): Generator<Event> {
    yield* this.#close();
    this.#open = { type: "reasoning", id: this.#itemId("rs"), summary: [] };
    this.items.push(this.#open);
    yield { type: "response.output_item.added", ...this.#place, item: { ...this.#open, summary: [] } };
  }

  /** The text so far was a thought. Readers of the stream already have it as text; the response at the end has it as a thought. */
  *#mistake(): Generator<Event> {
    yield* this.#close();
    const at = this.items.findLastIndex(({ type }) => type === "message");
    const found = this.items[at];
    if (found?.type !== "message") return;
    const summary = found.content.map((part): Summary => ({ type: "summary_text", text: partText(part) }));
    this.items[at] = { type: "reasoning", id: found.id.replace("msg", "rs"), summary };
  }

  *#close(): Generator<Event> {
    const open = this.#open;
    if (open?.type === "message") {
      const [part] = open.content;
      if (part?.type === "output_text") {
        yield { type: "response.output_text.done", ...this.#contentPlace, text: part.text, logprobs: [] };
      } else yield { type: "response.refusal.done", ...this.#contentPlace, refusal: part?.refusal };
      yield { type: "response.content_part.done", ...this.#contentPlace, part };
      open.status = this.#incomplete ? "incomplete" : "completed";
    } else if (open?.summary[0]) {
      const [part] = open.summary;
      yield { type: "response.reasoning_summary_text.done", ...this.#summaryPlace, text: part.text };
      yield { type: "response.reasoning_summary_part.done", ...this.#summaryPlace, part };
    }
    if (open) yield { type: "response.output_item.done", ...this.#place, item: open };
    this.#open = undefined;
  }

  *#call(index: number, callId: string, known: string): Generator<Event> {
    yield* this.#close();
    const { name, namespace, isCustom } = this.#kinds.get(known) ?? { name: known };
    const at = this.items.length;
    const item: OutputItem = isCustom
      ? { type: "custom_tool_call", id: this.#itemId("ctc"), call_id: callId, name, input: "" }
      : {
          type: "function_call",
          id: this.#itemId("fc"),
          call_id: callId,
          name,
          ...(namespace && { namespace }),
          arguments: "",
          status: "in_progress",
        };
    this.items.push(item);
    this.#calls.set(index, { at, name: known, callId, input: "" });
    yield { type: "response.output_item.added", output_index: at, item: { ...item } };
  }

  *#addInput(index: number, delta: string): Generator<Event> {
    const call = this.#calls.get(index);
    const item = call && this.items[call.at];
    if (!item) return;
    call.input += delta;
    if (item.type !== "function_call") return;
    yield { type: "response.function_call_arguments.delta", item_id: item.id, output_index: call.at, delta };
  }

  *#endCall({ at, input }: OpenCall): Generator<Event> {
    const item = this.items[at];
    if (item?.type === "function_call") {
      item.arguments = input || "{}";
      item.status = this.#incomplete ? "incomplete" : "completed";
      const done = { item_id: item.id, output_index: at, name: item.name, arguments: item.arguments };
      yield { type: "response.function_call_arguments.done", ...done };
    } else if (item?.type === "custom_tool_call") {
      const said = objectOf(input)?.input;
      item.input = typeof said === "string" ? said : input;
      const place = { item_id: item.id, output_index: at };
      yield { type: "response.custom_tool_call_input.delta", ...place, delta: item.input };
      yield { type: "response.custom_tool_call_input.done", ...place, input: item.input };
    }
    yield { type: "response.output_item.done", output_index: at, item };
  }

  get #openPart(): Text | Refusal | undefined {
    return this.#open?.type === "message" ? this.#open.content[0] : undefined;
  }
  get #isRefused(): boolean {
    return this.items.some((item) => item.type === "message" && item.content[0]?.type === "refusal");
  }
  get #place() {
    return { output_index: this.items.length - 1 };
  }
  get #contentPlace() {
    return { item_id: this.#open?.id, ...this.#place, content_index: 0 };
  }
  get #summaryPlace() {
    return { item_id: this.#open?.id, ...this.#place, summary_index: 0 };
  }
}
