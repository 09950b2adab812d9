// ECMAScript's «JSON.parse source text access», which Node has had since 21; TypeScript has no types for it yet.
type Source = { source?: string };
type RawJson = typeof JSON & {
  rawJSON(text: string): unknown;
  isRawJSON(value: unknown): value is { rawJSON: string };
  parse(text: string, reviver: (key: string, value: unknown, context: Source) => unknown): unknown;
};
const json = JSON as RawJson;

// A double has 15 significant decimal digits for sure. The parser is slower with a reviver, so most texts go without one.
// A number follows the beginning, a sign of JSON or a blank, so that one in a text, such as a time, costs nothing.
const mayHoldLongNumber = /(?:^|[:[,\s])-?(?:\d[\d.]{15}|[\d.]{1,17}[eE][+-]?\d{3})/;

/**
 * Parses JSON. Numbers that a double can't hold, such as ids of 19 digits, become objects that `JSON.stringify` writes as they came.
 * Throws a SyntaxError.
 */
export function parseJson(text: string): unknown {
  return mayHoldLongNumber.test(text) ? json.parse(text, exact) : JSON.parse(text);
}

/** The value of a JSON text; undefined for a text that is none. */
export function jsonIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
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

// Escapes of JSON one by one, as a backslash may itself be escaped; the halves of a surrogate pair together.
const escapes = /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[dD][89a-fA-F][\da-fA-F]{2}|\\./gs;

/** JSON without escapes of lone surrogates, which other parsers refuse; the sign for a broken character stands in their place. */
export const wellFormedJson = (text: string): string =>
  /\\u[dD][89a-fA-F]/.test(text) ? text.replace(escapes, (one) => (one.length === 6 ? "\\ufffd" : one)) : text;

/** A value that is a JSON object; undefined for anything else. */
export const recordOf = (value: unknown): Record<string, unknown> | undefined =>
  value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;

/** A value that is a list; an empty one for anything else. */
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** The value that this installation has written as JSON, as in a column: of the type that was written. For nothing that comes from outside. */
export const storedJson = <Stored>(written: string): Stored => JSON.parse(written);

/** The list of texts that a column holds as JSON. */
export const textsIn = <Text extends string = string>(stored: string): Text[] => storedJson<Text[]>(stored);

// In levels. A deeper value can be parsed, but not be written, compared or shown without running out of stack.
const deepest = 200;

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1)));

/** Whether a value is nested deeper than it could be written again. */
export const isTooDeep = (value: unknown): boolean => isDeeper(value, deepest);

/**
 * The object that a JSON text holds as models write it: line ends in texts as they are, the JSON in a fence, or in a text of JSON. An empty object for
 * blanks and for `null`; undefined for another value, broken JSON, or JSON nested deeper than `deepest`.
 */
export function objectOf(text: string): Record<string, unknown> | undefined {
  const [, fenced] = /^```(?:json)?\n([\s\S]*)\n```$/.exec(text.trim()) ?? [];
  const value = looselyParsed(fenced ?? (text.trim() || "{}"));
  const inner = typeof value === "string" ? looselyParsed(value) : value;
  if (inner === null) return {};
  return isDeeper(inner, deepest) ? undefined : recordOf(inner);
}

/** The value of a JSON text; undefined if it is broken. */
function looselyParsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    // A text without an end matches up to the end: looking for another beginning in it would take quadratic time.
    const escaped = text.replace(/"(?:[^"\\]|\\.)*(?:"|\\?$)/gs, (string) =>
      // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them in texts
      string.replace(/[\u0000-\u001f]/g, (sign) => JSON.stringify(sign).slice(1, -1)),
    );
    try {
      return escaped === text ? undefined : parseJson(escaped);
    } catch {
      return undefined;
    }
  }
}

/** A number as its digits, also one that a double can't hold; undefined for anything else. */
export function digitsOf(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return json.isRawJSON(value) ? value.rawJSON : undefined;
}

/** The number that somebody has typed, with a comma or a point; undefined if it is none. */
export function numberIn(typed: string): unknown {
  const text = typed.trim().replace(",", ".");
  if (text === "" || !Number.isFinite(Number(text))) return undefined;
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text) ? parseJson(text) : Number(text);
}
