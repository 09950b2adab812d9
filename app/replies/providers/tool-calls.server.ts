import type { LanguageModelV4FunctionTool, LanguageModelV4Message, LanguageModelV4ToolChoice } from "@ai-sdk/provider";
import type { Tool } from "../../tools/tool.server.ts";
import type { ProviderMeta } from "../parts.server.ts";

/** A tool that a model may call, its input described by a JSON schema; the names are those of the providers' libraries. */
export type OfferedTool = LanguageModelV4FunctionTool;
export type ToolChoice = LanguageModelV4ToolChoice;
/** A call as a model has written it. `input`: JSON, which may be broken; `meta`: what its provider wants back with it. */
export type ToolCall = { id: string; name: string; input: string; meta?: ProviderMeta };
/** What came of a call, for the model to go on with. */
export type ToolResult = { role: "tool"; callId: string; name: string; content: string };

/** A stretch of a call: its beginning, more of its input, or its signature. `index` tells the calls of one answer apart. */
export type CallStretch =
  | { type: "call"; index: number; id: string; name: string }
  | { type: "call-signed"; index: number; meta: ProviderMeta }
  | { type: "call-input"; index: number; text: string };

/** Puts the stretches of calls together. */
export class ToolCalls {
  readonly list: ToolCall[] = [];

  take(stretch: CallStretch): void {
    if (stretch.type === "call") this.list[stretch.index] = { id: stretch.id, name: stretch.name, input: "" };
    else {
      const call = this.list[stretch.index];
      if (call && stretch.type === "call-signed") call.meta = stretch.meta;
      else if (call && stretch.type === "call-input") call.input += stretch.text;
    }
  }
}

/**
 * A call as it stands in a prompt. Providers take nothing but an object for its input: one that the model has broken is put into
 * one.
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
  inputSchema: schema as OfferedTool["inputSchema"],
});

/** A result as it stands in a prompt. */
export const resultMessage = ({ callId, name, content }: ToolResult): LanguageModelV4Message => ({
  role: "tool",
  content: [{ type: "tool-result", toolCallId: callId, toolName: name, output: { type: "text", value: content } }],
});

/** The object that a call's input is; undefined if it is something else or broken. */
export function objectOf(input: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(input || "{}");
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // What is broken is no object.
  }
  return undefined;
}
