import { createHash } from "node:crypto";
import type { ModelAccess, Options, Piece, Prompt } from "./model-call.server.ts";

type Ask = (model: ModelAccess, prompt: Prompt, options: Options) => AsyncGenerator<Piece>;

// Letters in a tool's name, at most: Anthropic's limit, and OpenAI's, which Gemini and most compatible servers share.
const longestOfAnthropic = 128;
const longestOfOthers = 64;
// Letters of the digest that ends a shortened name.
const digestLength = 8;

/**
 * Asks a model with names of tools that its provider takes: programs send longer ones. A longer name is cut and ends with a digest of the
 * whole; calls come back under the whole name.
 */
export function askWithShortNames(
  ask: Ask,
  model: ModelAccess,
  prompt: Prompt,
  options: Options,
): AsyncGenerator<Piece> {
  const longest = model.provider === "anthropic" ? longestOfAnthropic : longestOfOthers;
  const wholeNames = new Map<string, string>();
  const named = <One extends { name: string }>(one: One): One => {
    if (one.name.length <= longest) return one;
    const digest = createHash("sha256").update(one.name).digest("hex").slice(0, digestLength);
    const name = `${one.name.slice(0, longest - digestLength - 1)}_${digest}`;
    wholeNames.set(name, one.name);
    return { ...one, name };
  };
  const turns = prompt.turns.map((turn) =>
    turn.role === "tool" ? named(turn) : turn.calls ? { ...turn, calls: turn.calls.map(named) } : turn,
  );
  const tools = options.tools?.map(named);
  const choice = options.toolChoice;
  const toolChoice = choice?.type === "tool" ? { ...choice, toolName: named({ name: choice.toolName }).name } : choice;
  // Passing pieces on costs a step for each token.
  if (wholeNames.size === 0) return ask(model, prompt, options);
  return withNames(ask(model, { ...prompt, turns }, { ...options, tools, toolChoice }), wholeNames);
}

async function* withNames(pieces: AsyncGenerator<Piece>, names: Map<string, string>): AsyncGenerator<Piece> {
  for await (const piece of pieces)
    yield piece.type === "call" ? { ...piece, name: names.get(piece.name) ?? piece.name } : piece;
}
