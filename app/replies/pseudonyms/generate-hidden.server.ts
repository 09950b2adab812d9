import type { ModelAccess, Options, Piece, Prompt } from "../providers/model-call.server.ts";
import type { Pseudonyms } from "./pseudonyms.server.ts";

type Ask = (model: ModelAccess, prompt: Prompt, options: Options) => AsyncGenerator<Piece>;

/**
 * Asks a model with marks in place of identifiers, and puts the identifiers back in its answer: in text and thoughts as they come, and in
 * the input of calls. Tools therefore get the true values.
 */
export async function* generateHidden(
  ask: Ask,
  model: ModelAccess,
  prompt: Prompt,
  options: Options,
): AsyncGenerator<Piece> {
  // Loaded only when used: the module brings data on the phone numbers of all countries.
  const { Pseudonyms } = await import("./pseudonyms.server.ts");
  const pseudonyms = new Pseudonyms(textsOf(prompt));
  yield* restored(ask(model, await hidePrompt(prompt, pseudonyms), options), pseudonyms);
}

const textsOf = ({ system, turns }: Prompt) => [system, ...turns.map(({ content }) => content)];

async function hidePrompt({ system, turns }: Prompt, pseudonyms: Pseudonyms): Promise<Prompt> {
  const hidden: Prompt = { system: await pseudonyms.hide(system), turns: [] };
  for (const turn of turns) {
    const content = await pseudonyms.hide(turn.content);
    if (turn.role === "tool" || !turn.calls) {
      hidden.turns.push({ ...turn, content });
      continue;
    }
    const calls = [];
    for (const call of turn.calls) calls.push({ ...call, input: await pseudonyms.hide(call.input) });
    const thoughts = [];
    for (const { text, meta } of turn.thoughts ?? []) thoughts.push({ text: await pseudonyms.hide(text), meta });
    hidden.turns.push({ ...turn, content, calls, thoughts });
  }
  return hidden;
}

async function* restored(pieces: AsyncGenerator<Piece>, pseudonyms: Pseudonyms): AsyncGenerator<Piece> {
  const text = pseudonyms.restorer();
  const reasoning = pseudonyms.restorer();
  const growing = pseudonyms.restorer();
  const inputs = new Map<number, ReturnType<Pseudonyms["restorer"]>>();
  /** The held-back rest of the stretch before, once a piece of another kind begins. */
  function* rest(next: Piece["type"]): Generator<Piece> {
    const thought = next === "reasoning" ? "" : reasoning.end();
    if (thought) yield { type: "reasoning", text: thought };
    const said = next === "text" ? "" : text.end();
    if (said) yield { type: "text", text: said };
    if (next === "call-input") return;
    for (const [index, input] of inputs) {
      const left = input.end();
      if (left) yield { type: "call-input", index, text: left };
    }
  }
  function* take(piece: Piece): Generator<Piece> {
    yield* rest(piece.type);
    if (piece.type === "text") yield* some({ ...piece, text: text.feed(piece.text) });
    else if (piece.type === "reasoning") yield* some({ ...piece, text: reasoning.feed(piece.text) });
    else if (piece.type === "call-input") {
      const input = inputs.get(piece.index) ?? pseudonyms.restorer();
      inputs.set(piece.index, input);
      yield* some({ ...piece, text: input.feed(piece.text) });
    } else if (piece.type === "call-growing") yield* some({ ...piece, text: growing.feed(piece.text) });
    else yield piece;
  }
  try {
    for await (const piece of pieces) yield* take(piece);
  } catch (error) {
    // Text from before the break stays.
    yield* rest("finish");
    throw error;
  }
}

/** A piece, unless all of it is held back. */
function* some<Kind extends Piece & { text: string }>(piece: Kind): Generator<Kind> {
  if (piece.text) yield piece;
}
