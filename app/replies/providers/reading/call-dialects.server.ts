import { isTooDeep, jsonIn, recordOf } from "../../../process/text/json.ts";

/**
 * Marks between which a model writes a call as text. `close`: undefined if the call lasts until the end of the answer. `anywhere`: made of
 * tokens of their own, which also stand within a line. `isBody`: the opening mark is a part of the call.
 */
export type Mark = { open: string; close?: string; anywhere?: true; isBody?: true };

/**
 * The marks of Qwen, Hermes and GLM; of Llama and Qwen Coder; of ByteDance; of MiniMax; of Claude's imitators; of Hunyuan; of Nemotron;
 * of three ages of DeepSeek; of Kimi; of two Gemmas; of Granite and Phi; of Cohere; of OpenAI's open models (harmony); of InternLM; of
 * Llama's other form; of Liquid; of Mistral.
 */
export const marks: readonly Mark[] = [
  { open: "<tool_call>", close: "</tool_call>" },
  { open: "<function=", close: "</function>", isBody: true },
  { open: "<seed:tool_call>", close: "</seed:tool_call>" },
  { open: "<minimax:tool_call>", close: "</minimax:tool_call>" },
  { open: "<function_calls>", close: "</function_calls>" },
  { open: "<tool_calls>", close: "</tool_calls>" },
  { open: "<TOOLCALL>", close: "</TOOLCALL>" },
  { open: "<｜DSML｜tool_calls>", close: "</｜DSML｜tool_calls>", anywhere: true },
  { open: "<｜DSML｜function_calls>", close: "</｜DSML｜function_calls>", anywhere: true },
  { open: "<｜tool▁calls▁begin｜>", close: "<｜tool▁calls▁end｜>", anywhere: true },
  { open: "<|tool_calls_section_begin|>", close: "<|tool_calls_section_end|>", anywhere: true },
  { open: "<|tool_call>", close: "<tool_call|>", anywhere: true },
  { open: "<start_function_call>", close: "<end_function_call>", anywhere: true },
  { open: "<|tool_call|>", close: "<|/tool_call|>", anywhere: true },
  { open: "<|START_ACTION|>", close: "<|END_ACTION|>", anywhere: true },
  { open: "<|channel|>commentary to=", close: "<|call|>", anywhere: true },
  { open: "<|action_start|><|plugin|>", close: "<|action_end|>", anywhere: true },
  { open: "<|python_tag|>", anywhere: true },
  { open: "<|tool_call_start|>", close: "<|tool_call_end|>", anywhere: true },
  { open: "[TOOL_CALLS]", anywhere: true },
];

// In characters of a beginning: more than the longest name and all before it.
const longestName = 200;

/** A call that a model has written. `input`: JSON. */
export type WrittenCall = { name: string; input: string };

// Fields with which a call as JSON begins, where that is not its name.
const firstFields = ["id", "type", "index", "function", "tool_call_id", "arguments", "parameters"];
const callMarks = ["<|tool_call_begin|>", "<｜tool▁call▁begin｜>"];

/** Whether a body that has begun so may still be of calls of these tools. */
export function mayCall(beginning: string, offered: readonly string[]): boolean {
  const begun = beginning.slice(0, longestName).replace(/\s/g, "").replace(/^\[/, "");
  const ofName = (name: string) => [
    ...["", "functions.", "call:", "<function=", '<invokename="', "<invokename=", '<｜DSML｜invokename="'].map(
      (before) => before + name,
    ),
    ...["name", "tool_name"].map((field) => `{"${field}":"${name}"`),
  ];
  const beginnings = [...offered.flatMap(ofName), ...firstFields.map((field) => `{"${field}":`), ...callMarks];
  return beginnings.some((one) => isAtBeginning(one, begun));
}

/** Whether an answer that has begun so may be nothing but a call of one of these tools as JSON. */
export function mayBeOneCall(beginning: string, offered: readonly string[]): boolean {
  const begun = beginning.slice(0, longestName).replace(/\s/g, "");
  const shapes = [
    '{"name":',
    '{"type":"function","name":',
    '{"type":"function","function":{"name":',
    '{"function":{"name":',
  ];
  return shapes.some((shape) => offered.some((name) => isAtBeginning(`${shape}"${name}"`, begun)));
}

const isAtBeginning = (name: string, begun: string) => name.startsWith(begun) || begun.startsWith(name);

/** Whether a parameter of a tool is a text: its value stays as it is written. */
export type IsText = (tool: string, parameter: string) => boolean;

/** The calls in a body between two marks; none for what is no call. `isClosed`: the closing mark has come. */
export function callsIn(body: string, isClosed: boolean, isText: IsText): WrittenCall[] {
  const trimmed = body
    .replaceAll("｜DSML｜", "")
    .trim()
    .replace(/(?:<\|eo[mt]_id\|>|<\/s>)$/, "");
  const json = shallowIn(trimmed);
  if (json !== undefined) return wholeOrNone((Array.isArray(json) ? json : [json]).map(callOf));
  const each = trimmed.split(/\n(?=\{)/).map(shallowIn);
  if (each.length > 1 && each.every((one) => one !== undefined)) return wholeOrNone(each.map(callOf));
  if (/^<(?:function=|invoke )/.test(trimmed)) return wholeOrNone(functionsIn(trimmed, isClosed, isText));
  const python = pythonCallsIn(trimmed);
  if (python) return python;
  // Each of several calls in one section has a mark of its own.
  const parts = trimmed
    .split(/<\|tool_call_begin\|>|<｜tool▁call▁begin｜>|\[TOOL_CALLS\]/)
    .filter((part) => part.trim());
  return wholeOrNone(parts.map((part) => callWithName(part.trim(), isClosed, isText)));
}

const wholeOrNone = (calls: (WrittenCall | undefined)[]): WrittenCall[] =>
  calls.every((call) => call !== undefined) ? calls : [];

const fieldsOfCall = new Set([...firstFields, "name", "tool_name"]);

/** A call as JSON: name and arguments, by themselves or as a function, or as Cohere names them. The description of a tool is none. */
function callOf(said: unknown): WrittenCall | undefined {
  const call = recordOf(said);
  const own = recordOf(call?.function) ?? call;
  const name = own?.name ?? own?.tool_name;
  if (typeof name !== "string" || Object.keys({ ...call, ...own }).some((field) => !fieldsOfCall.has(field))) {
    return undefined;
  }
  const input = own?.arguments ?? own?.parameters ?? {};
  if (recordOf(recordOf(input)?.properties)) return undefined;
  return { name, input: typeof input === "string" ? input : JSON.stringify(input) };
}

// Private-use character around the number of a text that has been set aside.
const aside = "\u{F8FF}";

/** Calls as Python writes them, as Liquid's models do: `[name(city="Vigo", days=2), …]`; undefined for anything else. */
function pythonCallsIn(body: string): WrittenCall[] | undefined {
  if (!body.startsWith("[") || !body.endsWith(")]")) return undefined;
  const texts: string[] = [];
  // A text without an end matches up to the end of the body: looking for another beginning in it would take quadratic time.
  const bare = body
    .slice(1, -1)
    .replace(/'((?:[^'\\]|\\[\s\S])*)(?:'|\\?$)|"((?:[^"\\]|\\[\s\S])*)(?:"|\\?$)/g, (_, single = "", double = "") => {
      const said = (single || double).replace(escaped, unescaped);
      return `${aside}${texts.push(said) - 1}${aside}`;
    });
  const calls: WrittenCall[] = [];
  const call = /\s{0,9}([\w.-]{1,64})\(([^()]*)\)\s{0,9}(?:,|$)/y;
  while (call.lastIndex < bare.length) {
    const [, name, given = ""] = call.exec(bare) ?? [];
    if (!name) return undefined;
    const json = given
      .replace(/\b([A-Za-z_]\w{0,63})=/g, '"$1":')
      .replace(/\b(?:True|False|None)\b/g, (word) => literals[word] ?? word)
      .replace(/\u{F8FF}(\d{1,6})\u{F8FF}/gu, (_, n: string) => JSON.stringify(texts[Number(n)]));
    const input = objectIn(`{${json}}`);
    if (!input) return undefined;
    calls.push({ name, input: JSON.stringify(input) });
  }
  return calls.length > 0 ? calls : undefined;
}

const escaped = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|([\s\S]))/g;
const escapes: Record<string, string> = {
  ...{ n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", v: "\v" },
  ...{ "\\": "\\", "'": "'", '"': '"', "\n": "" },
};
/** An escape of a text in Python, which keeps the backslash of one that it does not know: `\d`. */
const unescaped = (whole: string, byte?: string, unit?: string, sign = ""): string =>
  byte || unit ? String.fromCharCode(Number.parseInt(byte ?? unit ?? "", 16)) : (escapes[sign] ?? whole);
const literals: Record<string, string> = { True: "true", False: "false", None: "null" };

/** Functions of Llama and Qwen Coder, with JSON or parameters, and invocations of MiniMax, DeepSeek and Claude's imitators. */
function functionsIn(body: string, isClosed: boolean, isText: IsText): (WrittenCall | undefined)[] {
  return body
    .split(/(?=<function=|<invoke name=)/)
    .filter((part) => part.trim())
    .map((part) => {
      const [, plain, quoted, rest = ""] =
        /^<(?:function=([\w.-]{1,64})|invoke name="?([\w.-]{1,64})"?)>([\s\S]*)$/.exec(part) ?? [];
      const name = plain ?? quoted;
      const given = rest.replace(/<\/(?:function|invoke)>\s{0,9}$/, "");
      // Of one that was cut only JSON shows that nothing is missing.
      const isWhole = isClosed || given !== rest || objectIn(given);
      const input = name && isWhole ? inputIn(given, (parameter) => isText(name, parameter)) : undefined;
      return name && input !== undefined ? { name, input } : undefined;
    });
}

/** Calls that begin with their name: GLM's with keys and values, Gemma's with its own quotes, all others with JSON behind a mark. */
function callWithName(body: string, isClosed: boolean, isText: IsText): WrittenCall | undefined {
  const [said = "", prefix = "", name = ""] =
    /^(call:|(?:function<｜tool▁sep｜>)?(?:functions\.)?)([\w.-]{1,64})(?::\d{1,4})?/.exec(body) ?? [];
  const rest = body.slice(said.length);
  if (!name) return undefined;
  if (rest.trim() === "" || rest.trimStart().startsWith("<arg_key>")) {
    const pairs = isClosed ? pairsIn(rest, (key) => isText(name, key)) : undefined;
    return pairs && { name, input: JSON.stringify(pairs) };
  }
  const [from, to] = [rest.indexOf("{"), rest.lastIndexOf("}") + 1];
  // Nothing but marks stands around the arguments.
  if (from < 0 || from > marksAtMost || rest.length - to > marksAtMost) return undefined;
  const braces = rest.slice(from, to);
  const input = objectIn(prefix === "call:" ? quoted(braces) : braces);
  return input && { name, input: JSON.stringify(input) };
}

// Characters of marks beside the arguments of a call.
const marksAtMost = 120;

/** GLM's arguments: keys and values in turn; undefined if one of them has no end. */
function pairsIn(text: string, isText: (key: string) => boolean): Record<string, unknown> | undefined {
  const values: Record<string, unknown> = {};
  for (const part of text.split("<arg_key>").slice(1)) {
    const [, key = "", value] = /^([^<]{1,200})<\/arg_key>\s{0,9}<arg_value>([\s\S]*)$/.exec(part) ?? [];
    const end = value?.lastIndexOf("</arg_value>") ?? -1;
    if (value === undefined || end < 0) return undefined;
    const said = value.slice(0, end);
    values[key.trim()] = isText(key.trim()) ? said : valueIn(said);
  }
  return values;
}

/** Gemma's arguments as JSON: it writes keys without quotes, and texts between quotes of its own. */
const quoted = (braces: string): string =>
  braces
    .split(/<\|"\|>|<escape>/)
    .map((part, n) => (n % 2 === 1 ? JSON.stringify(part) : part.replace(/([{,]\s?)([\w-]+):/g, '$1"$2":')))
    .join("");

/** The input in the body of a function: JSON, or parameters; undefined if there is anything else, or one of them has no end. */
function inputIn(body: string, isText: (parameter: string) => boolean): string | undefined {
  if (objectIn(body)) return body.trim();
  const values: Record<string, unknown> = {};
  const [before = "", ...parts] = body.split(/<parameter(?:=| name=)/);
  if (before.trim()) return undefined;
  for (const part of parts) {
    const [, name, asText, value = ""] =
      /^"?([\w.-]{1,64})"?(?: string="(true|false)")?>\n?([\s\S]*)$/.exec(part) ?? [];
    const end = value.lastIndexOf("</parameter>");
    if (!name || end < 0 || value.slice(end + "</parameter>".length).trim()) return undefined;
    const said = value.slice(0, end).replace(/\n$/, "");
    values[name] = asText === "true" || isText(name) ? said : valueIn(said);
  }
  return JSON.stringify(values);
}

/** A value that is written without quotes: numbers, lists and objects as JSON, everything else as text. */
function valueIn(text: string): unknown {
  // Longer numbers are those of accounts and telephones.
  if (!/^\s*(?:[[{]|-?\d{1,15}(?:\.\d{1,15})?\s*$|true|false|null)/.test(text)) return text;
  const value = shallowIn(text);
  return value === undefined ? text : value;
}

/** The value of a JSON text; undefined for what is none, or could not be written again. */
function shallowIn(text: string): unknown {
  const value = jsonIn(text);
  return isTooDeep(value) ? undefined : value;
}

const objectIn = (text: string) => recordOf(shallowIn(text));
