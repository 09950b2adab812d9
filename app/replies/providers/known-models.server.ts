import type { ModelRow } from "../../db/tables.ts";

type Known = Pick<ModelRow, "contextWindow" | "maxOutputTokens" | "inputPrice" | "outputPrice" | "cachedPrice">;

// As published on 2026-11-26: window and longest answer in thousands of tokens, then the prices of input, output and cached input, in dollars
// for a million tokens of a short prompt.
const table: Record<string, Record<string, [number, number, number, number, number]>> = {
  anthropic: {
    "claude-fable-5-1": [1_000, 128, 10, 50, 0.25],
    "claude-fable-5": [1_000, 128, 10, 50, 1],
    "claude-opus-5-5": [1_000, 128, 4, 20, 0.2],
    "claude-opus-5": [1_000, 128, 5, 25, 0.5],
    "claude-opus-4-5": [200, 64, 5, 25, 0.5],
    "claude-opus-4-6": [200, 64, 5, 25, 0.5],
    "claude-opus-4-7": [200, 64, 5, 25, 0.5],
    "claude-opus-4-8": [200, 64, 5, 25, 0.5],
    "claude-sonnet-5-5": [1_000, 128, 2, 10, 0.1],
    "claude-sonnet-5": [1_000, 128, 2, 10, 0.2],
    "claude-sonnet-4": [200, 64, 3, 15, 0.3],
    "claude-haiku-4-5": [200, 64, 1, 5, 0.1],
    "claude-3-5-haiku": [200, 8, 0.8, 4, 0.08],
  },
  openai: {
    "gpt-6.2-sol": [1_050, 128, 2, 10, 0.1],
    "gpt-6.2-astra": [1_050, 128, 8, 40, 0.4],
    "gpt-6-sol": [1_050, 128, 2, 10, 0.2],
    "gpt-6-luna": [1_050, 128, 0.1, 0.5, 0.01],
    "gpt-5.4": [400, 128, 2.5, 15, 0.25],
    "gpt-5.4-mini": [400, 128, 0.75, 4.5, 0.075],
    "gpt-5.2": [400, 128, 1.75, 14, 0.175],
    "gpt-5": [400, 128, 1.25, 10, 0.125],
    "gpt-5-mini": [400, 128, 0.25, 2, 0.025],
    "gpt-4.1": [1_047, 32, 2, 8, 0.5],
    "gpt-4o": [128, 16, 2.5, 10, 1.25],
    "gpt-4o-mini": [128, 16, 0.15, 0.6, 0.075],
  },
  google: {
    "gemini-4-neon": [1_000, 65, 3, 15, 0.15],
    "gemini-4-hydrogen": [1_000, 65, 1.5, 7.5, 0.075],
    "gemini-2.5-pro": [1_000, 65, 1.25, 10, 0.125],
    "gemini-2.5-flash": [1_000, 65, 0.3, 2.5, 0.03],
  },
};

// Dates and words after a name, by which a provider tells editions of one model apart.
const edition = /^(?:-\d{8}|-\d{4}-\d{2}-\d{2}|-latest|-\d{3}|-0)?$/;

/**
 * Facts about a model of these providers by its name; undefined for other models, and for a model with its own address, as its name does
 * not tell who is paid.
 */
export function knownModel({ provider, externalId, baseUrl }: Pick<ModelRow, "provider" | "externalId" | "baseUrl">) {
  if (baseUrl !== null) return undefined;
  const found = Object.entries(table[provider] ?? {}).find(
    ([name]) => externalId.startsWith(name) && edition.test(externalId.slice(name.length)),
  );
  if (!found) return undefined;
  const [window, longest, inputPrice, outputPrice, cachedPrice] = found[1];
  const known: Known = {
    ...{ contextWindow: window * 1_000, maxOutputTokens: longest * 1_000 },
    ...{ inputPrice, outputPrice, cachedPrice },
  };
  return known;
}
