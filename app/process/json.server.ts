// ECMAScript's «JSON.parse source text access», which Node has had since 21; TypeScript has no types for it yet.
type Source = { source?: string };
type RawJson = typeof JSON & {
  rawJSON(text: string): unknown;
  parse(text: string, reviver: (key: string, value: unknown, context: Source) => unknown): unknown;
};
const json = JSON as RawJson;

// A double has 15 significant decimal digits for sure. The parser is slower with a reviver, so most texts go without one.
const mayHoldLongNumber = /\d[\d.]{15}|[\d.][eE][+-]?\d{3}/;

/**
 * Parses JSON. Numbers that a double can't hold, such as ids of 19 digits, become objects that `JSON.stringify` writes as they came.
 * Throws a SyntaxError.
 */
export function parseJson(text: string): unknown {
  return mayHoldLongNumber.test(text) ? json.parse(text, exact) : JSON.parse(text);
}

function exact(_key: string, value: unknown, { source }: Source): unknown {
  if (typeof value !== "number" || source === undefined) return value;
  return isExact(value, source) ? value : json.rawJSON(source);
}

function isExact(value: number, source: string): boolean {
  if (!Number.isFinite(value)) return false;
  if (/^-?\d+$/.test(source)) return Number.isSafeInteger(value) || BigInt(source) === BigInt(value);
  const [mantissa = ""] = source.split(/e/i);
  return mantissa.replace(/^-?0*\.?0*|\./g, "").length <= 15 || String(value) === source;
}

/** A value that is a JSON object; undefined for anything else. */
export const recordOf = (value: unknown): Record<string, unknown> | undefined =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;

/** A value that is a list; an empty one for anything else. */
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
