import type { LanguageModelV4CallOptions, SharedV4Warning } from "@ai-sdk/provider";
import { ReplyError } from "../errors.server.ts";
import type { ModelAccess, Settings } from "./model-call.server.ts";
import type { Parameter } from "./refused-parameters.server.ts";

type CallOptions = LanguageModelV4CallOptions;

/** Settings that all libraries know by the same name. */
export const commonOptions = ({
  parallelToolCalls,
  verbosity,
  strictJsonSchema,
  ...common
}: Settings): Partial<CallOptions> => common;

// OpenAI keeps the conversations of its Responses for a month unless it is told not to. It then wants its thoughts back, encrypted.
const keepNothing = { store: false };

// Google keeps its thoughts to itself unless it is asked for them.
const showThoughts = { thinkingConfig: { includeThoughts: true } };

/** Options that are specific to a provider's library. Throws ReplyError for a setting that the library has no option for. */
export function ownOptions(
  model: ModelAccess,
  { parallelToolCalls, verbosity, topK, strictJsonSchema, reasoning = model.reasoning ?? "none" }: Settings,
): NonNullable<CallOptions["providerOptions"]> {
  const { provider } = model;
  const oneCall = parallelToolCalls === false;
  if (verbosity && (provider === "anthropic" || provider === "google")) throw ReplyError.notTaken("verbosity");
  if (oneCall && provider === "google") throw ReplyError.notTaken("parallel_tool_calls");
  const compatible = {
    ...(parallelToolCalls !== undefined && { parallel_tool_calls: parallelToolCalls }),
    ...(verbosity && { verbosity }),
    ...(strictJsonSchema !== undefined && { strictJsonSchema }),
    // OpenAI has no such parameter, but most compatible servers do.
    ...(topK !== undefined && { top_k: topK }),
  };
  return {
    openai: {
      ...keepNothing,
      ...(parallelToolCalls !== undefined && { parallelToolCalls }),
      ...(verbosity && { textVerbosity: verbosity }),
      ...(strictJsonSchema !== undefined && { strictJsonSchema }),
    },
    ...(oneCall && { anthropic: { disableParallelToolUse: true } }),
    ...(reasoning !== "none" && { google: showThoughts }),
    openaiCompatible: compatible,
    ollama: compatible,
  };
}

/** Settings by the names with which the libraries report an omission, with their names in chat completions. */
const settingsOf = {
  topP: "top_p",
  topK: "top_k",
  seed: "seed",
  presencePenalty: "presence_penalty",
  frequencyPenalty: "frequency_penalty",
} as const;
const parametersOf: Record<string, Parameter> = {
  temperature: "temperature",
  stopSequences: "stop",
  toolChoice: "tool_choice",
  reasoning: "reasoning_effort",
  reasoningEffort: "reasoning_effort",
  responseFormat: "response_format",
};

/** Throws ReplyError where a library has left out what a program has asked for. */
export function refuseUnsupported(
  warnings: SharedV4Warning[],
  settings: Settings,
  required: readonly Parameter[],
): void {
  for (const warning of warnings) {
    if (warning.type !== "unsupported") continue;
    const { feature } = warning;
    for (const [setting, name] of Object.entries(settingsOf)) {
      if (setting === feature && setting in settings) throw ReplyError.notTaken(name);
    }
    const parameter = parametersOf[feature];
    if (parameter && required.includes(parameter)) throw ReplyError.notTaken(parameter);
  }
}

/** Throws ReplyError where a program has asked for something that is left out for this model. */
export function refuseLeftOut(required: readonly Parameter[] = [], refused: ReadonlySet<Parameter>): void {
  const missing = required.find((name) => refused.has(name));
  if (missing) throw ReplyError.notTaken(missing);
}
