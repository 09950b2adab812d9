import type { MessageStatus } from "../db/tables.ts";
import type { ShownCall } from "./tools/shown-call.server.ts";

/** A passage that a reply may cite, with the number that is used in its text. */
export type Source = {
  n: number;
  kind: "message" | "training" | "file" | "page";
  title: string;
  quote: string;
  chatId: string | null;
  messageId: string | null;
  /** The file and the number of the passage in it; sources stored before there were files have neither. */
  fileId?: string | null;
  position?: number | null;
  /** Address of a page of the web, and the time when it was read, in epoch ms. */
  url?: string;
  readAt?: number;
  /** Whether its address comes from a list of search results. */
  isListed?: boolean;
};

export type Usage = { inputTokens: number; outputTokens: number };
/**
 * A reply's own usage, as far as its provider tells. `reasoningTokens`: tokens of the output that were thoughts. `cachedTokens`: tokens of
 * the input that the provider had kept from another prompt; `writtenTokens`: tokens of the input that it keeps for the next prompt.
 */
export type ReplyUsage = Usage & { reasoningTokens?: number; cachedTokens?: number; writtenTokens?: number };

/**
 * The items of a reply's stream. A reply is a list of parts, numbered by `n`: `part` begins one, `part-end` ends one that is not
 * text. `at` is the offset of `text` in the reply's whole text, or in its part. `tool` comes whenever a call has changed, also after
 * later parts have begun; `sources` whenever there are more sources. `queued` stands alone: the message waits, and no `start` comes.
 * `turn`: the model answers others first, `place` - 1 of the waiting replies among them; `place` 0: the reply's turn has come.
 */
export type Chunk =
  | { type: "start"; chatId: string; userMessageId: string | null; messageId: string; modelId: string | null }
  | { type: "queued" }
  | { type: "turn"; place: number }
  | { type: "part"; n: number; kind: "text" | "reasoning" | "tool" | "image" }
  | { type: "text"; at: number; text: string }
  | { type: "reasoning"; n: number; at: number; text: string }
  | ({ type: "tool"; n: number } & ShownCall)
  | { type: "image"; n: number; fileId: string; alt: string; width: number | null; height: number | null }
  | { type: "part-end"; n: number; ms: number | null }
  | { type: "sources"; sources: Source[] }
  | { type: "end"; status: Exclude<MessageStatus, "streaming">; usage: ReplyUsage; error?: string }
  | { type: "title"; title: string };
