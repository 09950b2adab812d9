import type {
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4ToolChoice,
} from "@ai-sdk/provider";
import type { ModelRow } from "../../db/tables.ts";
import type { ReplyUsage } from "../chunk.ts";
import type { ProviderMeta, Thought } from "../tools/call.ts";
import type { Citation } from "./reading/completion-stream.server.ts";
import type { Stretch } from "./reading/thoughts.server.ts";
import type { Parameter } from "./refused-parameters.server.ts";

/** A tool that a model may call, its input described by a JSON schema; the names are those of the providers' libraries. */
export type OfferedTool = LanguageModelV4FunctionTool;
export type ToolChoice = LanguageModelV4ToolChoice;
/** A call as a model has written it. `input`: JSON, which may be broken; `meta`: what its provider wants back with it. */
export type ToolCall = { id: string; name: string; input: string; meta?: ProviderMeta };
/** Result of a call, for the model to go on with. */
export type ToolResult = { role: "tool"; callId: string; name: string; content: string };

/** A stretch of a call: its beginning, more of its input, or its signature. `index` tells the calls of one answer apart. */
export type CallStretch =
  | { type: "call"; index: number; id: string; name: string }
  | { type: "call-signed"; index: number; meta: ProviderMeta }
  | { type: "call-input"; index: number; text: string };

/** `images` are JPEG. */
export type Turn = { role: "user" | "assistant"; content: string; images?: Uint8Array[] };
/** A turn of a model: its calls, and the thoughts before them that its provider wants back. */
export type CallingTurn = Turn & { calls?: ToolCall[]; thoughts?: Thought[] };
export type Prompt = { system: string; turns: (CallingTurn | ToolResult)[] };
/**
 * A piece of a model's answer. `reasoning`: it thinks aloud; `mistaken`: its text so far was a thought; `signed`: what its provider wants
 * back with the thought before, or with one that is hidden.
 */
export type Piece =
  | Stretch
  | CallStretch
  | { type: "signed"; meta: ProviderMeta; isHidden?: true }
  | CallGrowth
  | ImagePiece
  | Finish;
/** More of the input of an unfinished call; the whole call comes afterwards. Sent only with `tellsGrowth`. */
export type CallGrowth = { type: "call-growing"; name: string; text: string };
/** An image that a model has made, as it came. */
export type ImagePiece = { type: "image"; mediaType: string; bytes: Uint8Array };
export type Finish = {
  type: "finish";
  usage: Partial<ReplyUsage>;
  reason: FinishReason;
  note?: string;
  /** Text at which the model has ended, as its server says; most say nothing. */
  stopSequence?: string;
  /** Places on the web that the provider names as sources. */
  citations?: Citation[];
};
/** With OpenAI's names. */
export type FinishReason = "stop" | "length" | "content_filter" | "tool_calls";
/** A model's row with its API key decrypted. */
export type ModelAccess = Pick<
  ModelRow,
  | "id"
  | "updatedAt"
  | "provider"
  | "externalId"
  | "baseUrl"
  | "apiKey"
  | "maxOutputTokens"
  | "temperature"
  | "reasoning"
  | "pseudonyms"
  | "refused"
>;

/** Settings of one answer that a program has asked for, by the names of the providers' libraries. */
export type Settings = {
  topP?: number | undefined;
  topK?: number | undefined;
  seed?: number | undefined;
  presencePenalty?: number | undefined;
  frequencyPenalty?: number | undefined;
  parallelToolCalls?: boolean | undefined;
  verbosity?: "low" | "medium" | "high" | undefined;
  /** Whether OpenAI enforces the schema, which it does only for schemas that require all their fields; true unless set. */
  strictJsonSchema?: boolean | undefined;
  /** Replaces the model's own setting. */
  reasoning?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | undefined;
};

/** The requested output: text, or JSON, optionally with a schema. */
export type ResponseFormat = NonNullable<LanguageModelV4CallOptions["responseFormat"]>;
export type Options = {
  signal: AbortSignal;
  /** ms a model may stay silent. */
  silence: number;
  stop?: string[];
  responseFormat?: ResponseFormat | undefined;
  /** Tools that the model may call; without tools, a model that calls one all the same has failed. */
  tools?: OfferedTool[] | undefined;
  toolChoice?: ToolChoice | undefined;
  /** Given, like `required`, by the program that asks: a setting that the model does not take is refused by name. */
  settings?: Settings | undefined;
  /** Parameters of the protocol that must reach the model. */
  required?: readonly Parameter[] | undefined;
  /** Whether calls are reported while they are written. */
  tellsGrowth?: boolean;
  /** Reasons for an end without a word that are no failure. */
  mayBeEmpty?: readonly FinishReason[];
  /** Gets the facts learned about the model's server, to be stored with the model. */
  learn?: ((learned: Learned) => Promise<void>) | undefined;
};
/** `refused`: parameters that the server refuses; `baseUrl`: address at which the server was found. */
export type Learned = { refused?: Parameter[]; baseUrl?: string };
