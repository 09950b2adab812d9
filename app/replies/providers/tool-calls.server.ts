import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { objectOf } from "../../process/text/json.ts";
import type { Tool } from "../../tools/tool.server.ts";
import type { ProviderMeta, Thought } from "../tools/call.ts";
import type { CallStretch, OfferedTool, Piece, ToolCall, ToolResult } from "./model-call.server.ts";
import { schemaForModels } from "./tool-schema.server.ts";

/** Whether a piece belongs to a call. */
export const isOfCall = (piece: Piece): piece is CallStretch =>
  piece.type === "call" || piece.type === "call-input" || piece.type === "call-signed";

// Characters of thoughts that are kept to be sent back: more than any model thinks between two calls.
const thoughtsAtMost = 1_000_000;

/** Puts the calls of one answer together, and the thoughts that its provider wants back with their results. */
export class ToolCalls {
  readonly list: ToolCall[] = [];
  #thoughts: Thought[] = [];
  #length = 0;
  #thought = "";

  /** The thoughts to send back; none if they are longer than any real ones could be. */
  get thoughts(): Thought[] {
    return this.#length > thoughtsAtMost ? [] : this.#thoughts;
  }

  take(piece: Piece): void {
    if (piece.type === "reasoning") this.#think(piece.text);
    else if (piece.type === "signed") this.#sign(piece.meta, piece.isHidden === true);
    else if (piece.type === "call") this.list[piece.index] = { id: piece.id, name: piece.name, input: "" };
    else if (piece.type === "call-input" || piece.type === "call-signed") {
      const call = this.list[piece.index];
      if (call && piece.type === "call-signed") call.meta = piece.meta;
      else if (call && piece.type === "call-input") call.input += piece.text;
    }
  }

  #think(text: string): void {
    this.#length += text.length;
    if (this.#length <= thoughtsAtMost) this.#thought += text;
  }

  #sign(meta: ProviderMeta, isHidden: boolean): void {
    this.#length += JSON.stringify(meta).length;
    this.#thoughts.push({ text: isHidden ? "" : this.#thought, meta });
    if (!isHidden) this.#thought = "";
  }
}

/**
 * A call as it stands in a prompt. Providers take only an object as its input: an input that the model has broken is put into an object.
 */
export const callPart = ({ id, name, input, meta }: ToolCall) => ({
  type: "tool-call" as const,
  toolCallId: id,
  toolName: name,
  input: objectOf(input) ?? { invalid_input: input },
  ...(meta && { providerOptions: meta }),
});

/** A tool as it is offered to a model. */
export const offeredAs = ({
  name,
  description,
  schema,
}: Pick<Tool, "name" | "description" | "schema">): OfferedTool => ({
  type: "function",
  name,
  description,
  inputSchema: schemaForModels(schema) as OfferedTool["inputSchema"],
});

/** A result as it stands in a prompt. */
export const resultMessage = ({ callId, name, content }: ToolResult): LanguageModelV4Message => ({
  role: "tool",
  content: [{ type: "tool-result", toolCallId: callId, toolName: name, output: { type: "text", value: content } }],
});
