import { createHash } from "node:crypto";
import type { ModelAccess, Options, Piece, Prompt } from "./model-call.server.ts";

type Ask = (model: ModelAccess, prompt: Prompt, options: Options) => AsyncGenerator<Piece>;

// Letters in a tool's name, at most: Anthropic's limit, and OpenAI's, which Gemini and most compatible servers share.
const longestOfAnthropic = 128;
const longestOfOthers = 64;
// Letters of the digest that ends a shortened name.
const digestLength = 8;

/**
 * Asks a model with names of tools that its provider takes: a longer name is cut and ends with a digest of the whole, and one that begins
 * with a digit gets letters before it, as Moonshot and Google want. Calls come back under the given name.
 */
export function askWithTakenNames(
  ask: Ask,
  model: ModelAccess,
  prompt: Prompt,
  options: Options,
): AsyncGenerator<Piece> {
  const longest = model.provider === "anthropic" ? longestOfAnthropic : longestOfOthers;
  const givenNames = new Map<string, string>();
  const named = <One extends { name: string }>(one: One): One => {
    let name = /^[a-z_]/i.test(one.name) ? one.name : `t_${one.name}`;
    if (name.length > longest) {
      const digest = createHash("sha256").update(one.name).digest("hex").slice(0, digestLength);
      name = `${name.slice(0, longest - digestLength - 1)}_${digest}`;
    }
    if (name === one.name) return one;
    givenNames.set(name, one.name);
    return { ...one, name };
  };
  const turns = prompt.turns.map((turn) =>
    turn.role === "tool" ? named(turn) : turn.calls ? { ...turn, calls: turn.calls.map(named) } : turn,
  );
  const tools = options.tools?.map(named);
  const choice = options.toolChoice;
  const toolChoice = choice?.type === "tool" ? { ...choice, toolName: named({ name: choice.toolName }).name } : choice;
  // Passing pieces on costs a step for each token.
  if (givenNames.size === 0) return ask(model, prompt, options);
  return withNames(ask(model, { ...prompt, turns }, { ...options, tools, toolChoice }), givenNames);
}

async function* withNames(pieces: AsyncGenerator<Piece>, names: Map<string, string>): AsyncGenerator<Piece> {
  for await (const piece of pieces)
    yield piece.type === "call" ? { ...piece, name: names.get(piece.name) ?? piece.name } : piece;
}
