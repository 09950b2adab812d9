import type { LanguageModelV4FunctionTool, LanguageModelV4Message, LanguageModelV4ToolChoice } from "@ai-sdk/provider";

/** A tool that a model may call, its input described by a JSON schema; the names are those of the providers' libraries. */
export type OfferedTool = LanguageModelV4FunctionTool;
export type ToolChoice = LanguageModelV4ToolChoice;
/** A call as a model has written it. `input`: JSON, which may be broken. */
export type ToolCall = { id: string; name: string; input: string };
/** What came of a call, for the model to go on with. */
export type ToolResult = { role: "tool"; callId: string; name: string; content: string };

/** A stretch of a call: its beginning, or more of its input. `index` tells the calls of one answer apart. */
export type CallStretch =
  | { type: "call"; index: number; id: string; name: string }
  | { type: "call-input"; index: number; text: string };

/** Puts the stretches of calls together. */
export class ToolCalls {
  readonly list: ToolCall[] = [];

  take(stretch: CallStretch): void {
    if (stretch.type === "call") this.list[stretch.index] = { id: stretch.id, name: stretch.name, input: "" };
    else {
      const call = this.list[stretch.index];
      if (call) call.input += stretch.text;
    }
  }
}

/**
 * A call as it stands in a prompt. Providers take nothing but an object for its input: one that the model has broken is put into
 * one.
 */
export const callPart = ({ id, name, input }: ToolCall) => ({
  type: "tool-call" as const,
  toolCallId: id,
  toolName: name,
  input: objectOf(input),
});

/** A result as it stands in a prompt. */
export const resultMessage = ({ callId, name, content }: ToolResult): LanguageModelV4Message => ({
  role: "tool",
  content: [{ type: "tool-result", toolCallId: callId, toolName: name, output: { type: "text", value: content } }],
});

function objectOf(input: string): object {
  try {
    const value: unknown = JSON.parse(input || "{}");
    if (value !== null && typeof value === "object" && !Array.isArray(value)) return value;
  } catch {
    // It stands as it is, below.
  }
  return { invalid_input: input };
}
