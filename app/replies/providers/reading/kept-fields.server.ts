import { listOf, recordOf } from "../../../process/text/json.ts";

/** Fields that servers want back as they came: OpenRouter, Gemini's compatible door, LiteLLM, GitHub Copilot. */
const wantedBack = /reason|think|thought|signature|extra_content|encrypted|provider_specific/i;

/** Those fields of an object that the server wants back, besides the ones that are known. */
export const keptOf = (given: Record<string, unknown>, known: string[]): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(given).filter(
      ([name, value]) => wantedBack.test(name) && !known.includes(name) && value !== null && value !== undefined,
    ),
  );

/** In a thought's metadata: the name of the field in which its text goes back. */
export const thoughtMark = "tertulia:thought";

// Characters of fields that are sent back; more can't be cut without breaking them.
const keptAtMost = 500_000;

/** The fields of a message that its server wants back, put together from the pieces of a stream. */
export class KeptFields {
  readonly #fields: Record<string, unknown> = {};
  #length = 0;

  add(fields: Record<string, unknown>): void {
    for (const [name, value] of Object.entries(fields)) {
      this.#length += JSON.stringify(value).length;
      if (this.#length > keptAtMost) return;
      const before = this.#fields[name];
      if (typeof before === "string" && typeof value === "string") this.#fields[name] = before + value;
      else if (Array.isArray(value)) this.#fields[name] = value.reduce(joined, listOf(before).slice());
      else if (recordOf(before) && recordOf(value)) this.#fields[name] = { ...recordOf(before), ...recordOf(value) };
      else this.#fields[name] = value;
    }
  }

  /** The fields; none where there is nothing to send back, or too much. */
  get all(): Record<string, unknown> {
    return this.#length > keptAtMost ? {} : this.#fields;
  }
}

const grows = new Set(["text", "summary", "data", "thinking", "content"]);

/** Adds an item to a list of `reasoning_details` or `thinking_blocks`: pieces of one item are of one type and index, one after the other. */
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
