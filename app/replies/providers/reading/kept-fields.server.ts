import { listOf, recordOf } from "../../../process/text/json.ts";

/** Fields that servers want back as they came: OpenRouter, Gemini's compatible API, LiteLLM, GitHub Copilot. */
const wantedBack = /reason|think|thought|signature|extra_content|encrypted|provider_specific/i;

/** Whether a server wants a field back, besides those that are `known`. */
const isWanted = (name: string, known: string[]) => wantedBack.test(name) && !known.includes(name);

/** The fields of a call that its server wants back; undefined if there are none. */
export function keptOf(call: Record<string, unknown>): Record<string, unknown> | undefined {
  const kept = Object.entries(call).filter(([name, value]) => value != null && isWanted(name, []));
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

/** In a thought's metadata: the name of the field in which its text goes back. */
export const thoughtMark = "tertulia:thought";

// Characters of fields that are sent back; more can't be cut without breaking them.
const keptAtMost = 500_000;

/** The fields of a message that its server wants back, put together from the pieces of a stream. */
export class KeptFields {
  readonly #fields: Record<string, unknown> = {};
  #length = 0;

  /** Takes those of a delta's fields that are wanted back. Called for each token. */
  take(delta: Record<string, unknown>, known: string[]): void {
    for (const name in delta) {
      const value = delta[name];
      if (name === "content" || value == null || !isWanted(name, known)) continue;
      this.#length += JSON.stringify(value).length;
      if (this.#length <= keptAtMost) this.#fields[name] = grown(this.#fields[name], value);
    }
  }

  /** The fields; none where there is nothing to send back, or too much. */
  get all(): Record<string, unknown> {
    return this.#length > keptAtMost ? {} : this.#fields;
  }
}

/** A field with its next piece: texts, lists and objects grow; any other value is replaced by the newer one. */
function grown(before: unknown, value: unknown): unknown {
  if (typeof before === "string" && typeof value === "string") return before + value;
  if (Array.isArray(value)) return value.reduce(joined, listOf(before));
  return recordOf(before) && recordOf(value) ? { ...recordOf(before), ...recordOf(value) } : value;
}

const grows = new Set(["text", "summary", "data", "thinking", "content"]);

/** Adds an item to a list of `reasoning_details` or `thinking_blocks`: consecutive pieces of one type, index and id are one item. */
function joined(list: unknown[], given: unknown): unknown[] {
  const item = recordOf(given);
  const last = recordOf(list.at(-1));
  const goesOn = item && last && item.type === last.type && item.index === last.index && item.id === last.id;
  // An item that was signed is whole.
  if (!goesOn || last.signature || typeof item.data === "string") return [...list, given];
  const grown = { ...last };
  for (const [name, value] of Object.entries(item)) {
    const before = grown[name];
    if (grows.has(name) && typeof before === "string" && typeof value === "string") grown[name] = before + value;
    else if (value !== null) grown[name] = value;
  }
  return [...list.slice(0, -1), grown];
}
