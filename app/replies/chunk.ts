import type { MessageStatus } from "../db/tables.ts";

/** A passage that a reply may cite, with the number that is used in its text. */
export type Source = {
  n: number;
  kind: "message" | "training" | "file";
  title: string;
  quote: string;
  chatId: string | null;
  messageId: string | null;
  /** The file and the number of the passage in it; sources stored before there were files have neither. */
  fileId?: string | null;
  position?: number | null;
};

export type Usage = { inputTokens: number; outputTokens: number };

/** The items of a reply's stream. `at` is the offset of `text` in the reply. */
export type Chunk =
  | { type: "start"; chatId: string; userMessageId: string | null; messageId: string; modelId: string | null }
  | { type: "text"; at: number; text: string }
  | { type: "sources"; sources: Source[] }
  | { type: "end"; status: Exclude<MessageStatus, "streaming">; usage: Usage; error?: string }
  | { type: "title"; title: string };
