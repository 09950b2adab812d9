import type { Tool } from "../../tools/tool.server.ts";
import type { Call } from "./call.ts";
import { formOf, isIn, type Place, placesIn } from "./places.server.ts";

/**
 * Origin of words that anybody may have written: pages, documents, images, other people's messages, and results of tools
 * that reach the open world. Any other origin is the id of a tool's row.
 */
export const anybody = "*";

// Places that are looked for in the texts of a person; a call that names more is asked about.
const placesAtMost = 16;

export type Origins = {
  /** Texts of the person. */
  person: string[];
  /** Addresses in lists of search results. */
  listed: string[];
  /** Origins of what has come into the prompt besides the person and the house. */
  origins: string[];
  /** Origins of descriptions: servers whose tools are offered. */
  described: string[];
};

/**
 * Origins of the words in a prompt. An outside text can tell a model to carry its knowledge somewhere; a call may go unasked only to a
 * place that the person or a list of search results has named. See `docs/decisions/0026-who-said-it.md`.
 */
export class Provenance {
  readonly #person: string[];
  readonly #listed: ReadonlySet<string>;
  readonly #origins: string[];
  readonly #described: string[];

  constructor({ person, listed, origins, described }: Origins) {
    this.#person = [...person];
    this.#listed = new Set(listed.map(formOf));
    this.#origins = [...origins];
    this.#described = [...described];
  }

  /** Whether words stand in the prompt that are neither the person's, nor the house's, nor of this tool itself. */
  hasOutsideWords({ toolId }: Pick<Tool, "toolId">): boolean {
    return this.#origins.some((origin) => origin !== toolId);
  }

  /** Whether descriptions of other servers stand in the prompt. */
  hasOtherDescriptions({ toolId }: Pick<Tool, "toolId">): boolean {
    return this.#described.some((origin) => origin !== toolId);
  }

  /** Places that a call would carry something to and that neither the person nor a list of search results has named. */
  unnamedIn(tool: Pick<Tool, "goesTo" | "server" | "reachesOut">, input: Record<string, unknown>): Place[] {
    const places = placesOf(tool, input);
    if (places.length > placesAtMost) return places;
    return places.filter(
      ({ value }) => !this.#listed.has(formOf(value)) && !this.#person.some((text) => isIn(text, value)),
    );
  }
}

/** Places that a call of a tool goes to; none if its server reaches nothing beyond itself. */
export function placesOf(
  { goesTo, server, reachesOut }: Pick<Tool, "goesTo" | "server" | "reachesOut">,
  input: object,
): Place[] {
  if (goesTo) return [{ value: goesTo({ ...input }), isPath: false }];
  return server !== null && reachesOut ? placesIn(input) : [];
}

/** `granted`: the person has allowed the tool for the whole chat. `wasCut`: nobody knows whether the same call was made before. */
type Asked = { provenance: Provenance; granted: boolean; wasCut: boolean };

/**
 * Whether the person is asked before a call. With outside words in the prompt, a yes for the whole chat does not cover calls that change
 * something, nor places that nobody has named, except paths in calls of tools that only read. With another server's descriptions in the
 * prompt, it does not cover calls that change something, either; an administrator's yes does.
 */
export function mustAsk(tool: Tool, input: Record<string, unknown>, { provenance, granted, wasCut }: Asked): boolean {
  if (tool.asksAlways) return true;
  const isTold = provenance.hasOutsideWords(tool);
  const isDescribed = provenance.hasOtherDescriptions(tool);
  if (isTold && tool.server !== null && !tool.readOnly) return true;
  if (isTold || isDescribed) {
    const holds = granted && tool.readOnly;
    if (provenance.unnamedIn(tool, input).some(({ isPath }) => !(isPath && holds))) return true;
  }
  // Descriptions of another server's tools may order a call of this one.
  const holds = granted && (tool.readOnly || tool.server === null || !isDescribed);
  return (wasCut && !tool.readOnly) || (tool.asks && !holds);
}

/** Origin of what a call has brought; undefined for what the house says itself, such as the result of a sum. */
export function originOf(call: Pick<Call, "toolId" | "server" | "readOnly" | "reachesOut">): string | undefined {
  if (call.server === null) return call.reachesOut ? anybody : undefined;
  return call.readOnly && call.reachesOut ? anybody : (call.toolId ?? anybody);
}
