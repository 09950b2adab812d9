import type { LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider";
import type { ProviderMeta, Thought } from "../tools/call.ts";
import type { CallingTurn, Prompt, ToolResult } from "./model-call.server.ts";
import { thoughtMark } from "./reading/kept-fields.server.ts";
import { callPart, resultMessage } from "./tool-calls.server.ts";

/** A prompt as the providers' libraries take it. */
export function toPrompt({ system, turns }: Prompt): LanguageModelV4Prompt {
  return [
    ...(system ? [{ role: "system" as const, content: system }] : []),
    ...alternating(turns).map((turn): LanguageModelV4Message => {
      if (turn.role === "tool") return resultMessage(turn);
      const { role, content, images = [], calls = [], thoughts = [] } = turn;
      const text = content || calls.length === 0 ? [{ type: "text" as const, text: content }] : [];
      if (role === "user") return { role, content: [...images.map(imagePart), ...text] };
      const own = thoughts.filter(({ meta }) => !meta.openaiCompatible).map(thoughtPart);
      const fields = thoughtFieldsOf(thoughts);
      return {
        role,
        content: [...own, ...images.map(imagePart), ...text, ...calls.map(callPart)],
        ...(fields && { providerOptions: { openaiCompatible: fields } }),
      };
    }),
  ];
}

/**
 * Turns of which no two in a row are of the person, or of the model: after a reply that has failed there are, and templates of models
 * refuse them.
 */
function alternating(turns: Prompt["turns"]): Prompt["turns"] {
  const merged: Prompt["turns"] = [];
  for (const turn of turns) {
    const last: CallingTurn | ToolResult | undefined = merged.at(-1);
    if (!last || last.role === "tool" || turn.role === "tool" || last.role !== turn.role || last.calls?.length) {
      merged.push(turn);
      continue;
    }
    const content = [last.content, turn.content].filter(Boolean).join("\n\n");
    merged[merged.length - 1] = { ...turn, content, images: [...(last.images ?? []), ...(turn.images ?? [])] };
  }
  return merged;
}

const thoughtPart = ({ text, meta }: Thought) => ({ type: "reasoning" as const, text, providerOptions: meta });

/** Thoughts of a compatible server as fields of its message, under the names by which it sent them. */
function thoughtFieldsOf(thoughts: Thought[]): ProviderMeta[string] | undefined {
  const [first] = thoughts.filter(({ meta }) => meta.openaiCompatible);
  if (!first?.meta.openaiCompatible) return undefined;
  const { [thoughtMark]: field, ...kept } = first.meta.openaiCompatible;
  return { ...kept, ...(typeof field === "string" && { [field]: first.text }) };
}

const imagePart = (data: Uint8Array) => ({
  type: "file" as const,
  mediaType: "image/jpeg",
  data: { type: "data" as const, data },
});
