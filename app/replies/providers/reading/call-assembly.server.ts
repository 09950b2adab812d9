import { recordOf } from "../../../process/text/json.ts";
import { keptOf } from "./kept-fields.server.ts";

/** A call put together; `kept`: fields of the server that it wants back with the call. */
export type AssembledCall = { id: string; name: string; input: string; kept: Record<string, unknown> | undefined };

type Growing = {
  index: number | undefined;
  id: string | undefined;
  name: string;
  pieces: string[];
  length: number;
  kept: object;
};

/**
 * Puts the calls of a stream of chat completions together. Servers stream them in many ways: without ids, without an index, with one
 * index or one id for several calls, an id for each piece, a name in pieces or repeated, `{}` before the arguments, all of the
 * arguments once more at the end, an object in place of a text.
 */
export class CallAssembly {
  readonly #calls: Growing[] = [];

  /**
   * `given`: an item of `tool_calls`, or the value of `function_call` in OpenAI's older format. Answers the name of its call and the text
   * that it adds to the input, as far as both are known before the end.
   */
  add(given: unknown): { name: string; text: string } | undefined {
    const call = recordOf(given);
    if (!call) return undefined;
    const called = recordOf(call.function) ?? call;
    const name = typeof called.name === "string" ? called.name : "";
    const id = typeof call.id === "string" && call.id !== "" ? call.id : undefined;
    const index = typeof call.index === "number" ? call.index : undefined;
    const piece = pieceOf(called.arguments ?? called.input ?? called.parameters);
    let current = this.#find(index, id, name);
    if (!current || begins(current, id, name, piece)) {
      // The second call under one id gets another id, because the results of both go back.
      const own = this.#calls.some((one) => one.id === id) ? undefined : id;
      current = { index, id: own ?? (id && newId()), name, pieces: [], length: 0, kept: {} };
      this.#calls.push(current);
    } else if (name && current.length === 0 && !current.name.endsWith(name)) current.name += name;
    current.id ??= id;
    if (piece) current.pieces.push(piece);
    current.length += piece.length;
    Object.assign(current.kept, keptOf(call));
    return { name: current.name, text: piece };
  }

  /** The calls so far. One without a name can't be carried out. */
  list(): AssembledCall[] {
    return this.#calls
      .filter(({ name }) => name !== "")
      .map(({ id, name, pieces, kept }) => ({
        id: id ?? newId(),
        name,
        input: inputOf(pieces),
        kept: Object.keys(kept).length > 0 ? { ...kept } : undefined,
      }));
  }

  #find(index: number | undefined, id: string | undefined, name: string): Growing | undefined {
    if (index !== undefined) return this.#calls.findLast((call) => call.index === index);
    const known = id && this.#calls.findLast((call) => call.id === id);
    if (known) return known;
    // Without an index, a piece with a name begins a call; a piece without one continues the last call.
    return name ? undefined : this.#calls.at(-1);
  }
}

const newId = () => `call_${crypto.randomUUID()}`;

/** Whether a piece begins another call, though it has the index or the id of one that is there. */
function begins(current: Growing, id: string | undefined, name: string, piece: string): boolean {
  if (!name) return false;
  const isOther = id !== undefined && current.id !== undefined && id !== current.id;
  // Many servers repeat the name with each piece; such a piece must not cost a check of all earlier ones.
  if (!isOther && name === current.name && !isComplete(piece)) return false;
  if (current.length === 0) return isOther && name !== current.name;
  if (!current.pieces.at(-1)?.trimEnd().endsWith("}")) return false;
  const before = current.pieces.join("");
  if (!isComplete(before)) return false;
  if (isOther || name !== current.name) return true;
  // A repetition of the same call is not another call; `{}` before the arguments is a placeholder.
  return before !== "{}" && piece !== before && isComplete(piece);
}

function pieceOf(given: unknown): string {
  if (typeof given === "string") return given;
  return given === null || given === undefined ? "" : JSON.stringify(given);
}

/** The arguments of a call from their pieces: all of them together, or what is whole among them. */
function inputOf(pieces: string[]): string {
  const whole = pieces.join("");
  if (whole === "" || isComplete(whole)) return whole;
  const withoutPlaceholder = whole.replace(/^\s*\{\s*\}\s*(?=\{)/, "");
  if (isComplete(withoutPlaceholder)) return withoutPlaceholder;
  const last = pieces.at(-1) ?? "";
  const before = pieces.slice(0, -1);
  if (last === "{}") return inputOf(before);
  // Some servers repeat the whole at the end, or send all that there is so far each time. Anything else is a call that was cut.
  const isRepeated = isComplete(before.join("")) || pieces.every((piece, n) => piece.startsWith(pieces[n - 1] ?? ""));
  return isRepeated && isComplete(last) ? last : whole;
}

function isComplete(text: string): boolean {
  if (!/\}\s*$/.test(text)) return false;
  try {
    return recordOf(JSON.parse(text)) !== undefined;
  } catch {
    return false;
  }
}
