import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { createMiddleware } from "hono/factory";
import { pullStream, withPauses } from "../../http/pull-stream.server.ts";
import { limits } from "../../process/limits.ts";
import { objectOf } from "../../process/text/json.ts";
import type { ReplyUsage } from "../../replies/chunk.ts";
import type { Finish, Piece } from "../../replies/providers/model-call.server.ts";
import { estimateUsage } from "../../replies/usage.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { takesBodyOf } from "../http/bodies.server.ts";
import { answerInvalid, asAnthropic } from "../http/problem.server.ts";
import { answers, bearer, bytes, takes } from "../http/schemas.server.ts";
import { type Asking, askThrough, named } from "./door.server.ts";
import type { DoorRequest } from "./door-request.server.ts";
import { askedCount, askedMessage, messageNames, messageRequest } from "./message-request.server.ts";
import { eventStream } from "./openai-clients.server.ts";
import { sealOf, type ThoughtSeal } from "./thoughts/sealed-thoughts.server.ts";

/** Middleware for routes of Anthropic's clients: errors have Anthropic's shape beside our own fields. */
const forAnthropic = createMiddleware<ApiEnv>(async (c, next) => {
  c.set("errorsOf", "anthropic");
  c.header("Request-Id", c.var.requestId);
  await next();
});
const common = {
  security: bearer,
  middleware: [forAnthropic, signedIn, active, takesBodyOf(limits.completionBody)],
};

const usage = z.object({
  input_tokens: z.number(),
  cache_read_input_tokens: z.number(),
  cache_creation_input_tokens: z.number(),
  output_tokens: z.number(),
});
const block = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string() }),
  z.object({ type: z.literal("thinking"), thinking: z.string(), signature: z.string() }),
  z.object({ type: z.literal("redacted_thinking"), data: z.string() }),
  z.object({ type: z.literal("tool_use"), id: z.string(), name: z.string(), input: z.record(z.string(), z.unknown()) }),
]);
const message = z
  .object({
    id: z.string(),
    type: z.literal("message"),
    role: z.literal("assistant"),
    model: z.string(),
    content: z.array(block),
    stop_reason: z.enum(["end_turn", "max_tokens", "stop_sequence", "tool_use", "refusal"]).nullable(),
    stop_sequence: z.string().nullable(),
    usage,
  })
  .openapi("AnthropicMessage");
type Message = z.output<typeof message>;
type Block = z.output<typeof block>;
type Written = Extract<Block, { type: "text" | "thinking" }>;

const createMessageRoute = createRoute({
  method: "post",
  path: "/messages",
  ...common,
  request: { body: takes(askedMessage) },
  responses: {
    200: {
      content: { "application/json": { schema: message }, "text/event-stream": { schema: bytes } },
      description: "La respuesta; con `stream`, sus sucesos.",
    },
  },
});
const createMessage: RouteHandler<typeof createMessageRoute, ApiEnv> = async (c) => {
  const body = c.req.valid("json");
  const seal = sealOf(c.var);
  const request = messageRequest(body, seal);
  const asking = await askThrough(c, request, { names: messageNames, stream: Boolean(body.stream) });
  const begun: Message = {
    id: `msg_${c.var.requestId}`,
    type: "message",
    role: "assistant",
    model: body.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    // Programs measure by it how full the window is; the true count comes at the end.
    usage: tokensOf(estimated(request)),
  };
  const answer = new MessageAnswer(request.house.length === 0 ? seal : undefined, request.stop);
  if (body.stream) {
    const events = toEvents(begun, asking, answer);
    return c.body(
      pullStream(events, () => asking.pieces.return(undefined)),
      200,
      eventStream,
    );
  }
  try {
    for await (const piece of asking.pieces) Array.from(answer.take(piece));
  } catch (error) {
    throw asking.failed(error);
  }
  const { content, stop_reason, stop_sequence, usage } = answer;
  return c.json({ ...begun, content, stop_reason, stop_sequence, usage }, 200);
};

const countTokensRoute = createRoute({
  method: "post",
  path: "/messages/count_tokens",
  ...common,
  request: { body: takes(askedCount) },
  responses: {
    200: answers(
      z.object({ input_tokens: z.number() }).openapi("AnthropicCount"),
      "Cuántos tokens serían, más o menos.",
    ),
  },
});
const countTokens: RouteHandler<typeof countTokensRoute, ApiEnv> = async (c) => {
  const body = c.req.valid("json");
  await named(c.var.services, c.var.person.id, body.model);
  const { inputTokens } = estimated(messageRequest(body, sealOf(c.var)));
  return c.json({ input_tokens: inputTokens }, 200);
};

const estimated = ({ said, tools }: DoorRequest) => estimateUsage(JSON.stringify([said, tools], asShown).length, 0);

// In characters, for the estimate: an image is some 1,500 tokens, and text is about a tenth of a document's Base64.
const imageLength = 5_000;
const asShown = (name: string, value: unknown) => {
  if (typeof value !== "string" || (name !== "image" && name !== "data")) return value;
  return name === "image" ? "i".repeat(imageLength) : "d".repeat(Math.ceil(value.length / 10));
};

/** Anthropic's Messages, for its clients and programs for Claude. */
export const messagesOfPrograms = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(createMessageRoute, createMessage)
  .openapi(countTokensRoute, countTokens);

const reasons: Record<Finish["reason"], NonNullable<Message["stop_reason"]>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal",
};

/** Anthropic counts input tokens that a cache read or wrote apart from the others. */
const tokensOf = ({ inputTokens = 0, outputTokens = 0, cachedTokens = 0, writtenTokens = 0 }: Partial<ReplyUsage>) => ({
  input_tokens: Math.max(0, inputTokens - cachedTokens - writtenTokens),
  cache_read_input_tokens: cachedTokens,
  cache_creation_input_tokens: writtenTokens,
  output_tokens: outputTokens,
});

type Event = { type: string } & Record<string, unknown>;

/** Puts a model's pieces together as blocks of a message, one after another, and yields the events of the message's stream. */
class MessageAnswer {
  readonly content: Block[] = [];
  stop_reason: Message["stop_reason"] = null;
  stop_sequence: string | null = null;
  usage = tokensOf({});
  /** The text or thought that is being written: the last block. */
  #open: Written | undefined;
  /** Calls, sent one by one at the end, because the pieces of their inputs may come mixed. */
  readonly #calls = new Map<number, { id: string; name: string; input: string; signature?: string }>();
  readonly #seal: ThoughtSeal | undefined;
  readonly #stops: string[];

  /** `seal`: undefined where thoughts are not signed, as the program does not have all steps. `stops`: the request's stop sequences. */
  constructor(seal: ThoughtSeal | undefined, stops: string[]) {
    this.#seal = seal;
    this.#stops = stops;
  }

  *take(piece: Piece): Generator<Event> {
    switch (piece.type) {
      case "text":
        if (this.#open?.type !== "text") yield* this.#begin({ type: "text", text: "" });
        if (this.#open?.type === "text") this.#open.text += piece.text;
        return yield this.#delta({ type: "text_delta", text: piece.text });
      case "reasoning":
        if (this.#open?.type !== "thinking") yield* this.#begin({ type: "thinking", thinking: "", signature: "" });
        if (this.#open?.type === "thinking") this.#open.thinking += piece.text;
        return yield this.#delta({ type: "thinking_delta", thinking: piece.text });
      case "mistaken":
        return yield* this.#mistake();
      case "signed": {
        const signature = this.#seal?.close({ meta: piece.meta });
        if (!signature) return;
        if (piece.isHidden || this.#open?.type !== "thinking") {
          return yield* this.#whole({ type: "redacted_thinking", data: signature });
        }
        this.#open.signature = signature;
        yield this.#delta({ type: "signature_delta", signature });
        return yield* this.#close();
      }
      case "call":
        this.#calls.set(piece.index, { id: piece.id, name: piece.name, input: "" });
        return;
      case "call-input": {
        const call = this.#calls.get(piece.index);
        if (call) call.input += piece.text;
        return;
      }
      case "call-signed": {
        const call = this.#calls.get(piece.index);
        if (call && this.#seal) call.signature = this.#seal.close({ meta: piece.meta, callId: call.id });
        return;
      }
      case "finish":
        yield* this.#close();
        for (const { id, name, input, signature } of this.#calls.values()) {
          yield* this.#whole({ type: "tool_use", id, name, input: objectOf(input) ?? { invalid_input: input } });
          if (signature) yield* this.#whole({ type: "redacted_thinking", data: signature });
        }
        // Some servers give a word of their own in place of a sequence.
        this.stop_sequence = this.#stops.find((one) => one === piece.stopSequence) ?? null;
        this.stop_reason =
          piece.reason === "stop" && this.stop_sequence !== null ? "stop_sequence" : reasons[piece.reason];
        this.usage = tokensOf(piece.usage);
    }
  }

  #delta = (delta: object): Event => ({ type: "content_block_delta", index: this.content.length - 1, delta });

  *#begin(block: Written): Generator<Event> {
    yield* this.#close();
    this.#open = block;
    this.content.push(block);
    yield { type: "content_block_start", index: this.content.length - 1, content_block: { ...block } };
  }

  *#close(): Generator<Event> {
    if (this.#open) yield { type: "content_block_stop", index: this.content.length - 1 };
    this.#open = undefined;
  }

  /** A block that comes whole. The input of a call is always sent in a delta. */
  *#whole(block: Exclude<Block, Written>): Generator<Event> {
    yield* this.#close();
    this.content.push(block);
    const content_block = block.type === "tool_use" ? { ...block, input: {} } : block;
    yield { type: "content_block_start", index: this.content.length - 1, content_block };
    if (block.type === "tool_use") {
      yield this.#delta({ type: "input_json_delta", partial_json: JSON.stringify(block.input) });
    }
    yield { type: "content_block_stop", index: this.content.length - 1 };
  }

  /** The text so far was a thought. Readers of the stream already have it as text; the whole message has it as a thought. */
  *#mistake(): Generator<Event> {
    yield* this.#close();
    const at = this.content.findLastIndex(({ type }) => type === "text");
    const found = this.content[at];
    if (found?.type !== "text") return;
    this.content[at] = { type: "thinking", thinking: found.text, signature: "" };
  }
}

async function* toEvents(begun: Message, { pieces, failed }: Asking, answer: MessageAnswer): AsyncGenerator<string> {
  const event = (said: Event) => `event: ${said.type}\ndata: ${JSON.stringify(said)}\n\n`;
  yield event({ type: "message_start", message: begun });
  try {
    for await (const piece of withPauses(pieces)) {
      if (!piece) yield event({ type: "ping" });
      else for (const one of answer.take(piece)) yield event(one);
    }
    const { stop_reason, stop_sequence, usage } = answer;
    yield event({ type: "message_delta", delta: { stop_reason, stop_sequence }, usage });
    yield event({ type: "message_stop" });
  } catch (error) {
    yield event(asAnthropic(failed(error)));
  }
}
