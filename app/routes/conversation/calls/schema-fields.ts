import { digitsOf, numberIn } from "../../../process/text/json.ts";
import type { InputSchema } from "../../../tools/tool.server.ts";

/** A field of a form for one property of a tool's input. A value that is not simple is `fixed`: it is shown, not changed. */
export type SchemaField = {
  name: string;
  label: string;
  hint: string | undefined;
  kind: "text" | "area" | "number" | "flag" | "choice" | "fixed";
  value: string;
  choices: string[];
  required: boolean;
};

type Property = {
  type?: unknown;
  title?: unknown;
  description?: unknown;
  enum?: unknown;
  maxLength?: unknown;
  default?: unknown;
};

// A form takes a hundred fields in all.
const fieldsAtMost = 40;
const longLine = 80;

const property = (given: unknown): Property => (typeof given === "object" && given !== null ? given : {});
const said = (value: unknown, most: number) => (typeof value === "string" && value ? value.slice(0, most) : undefined);

/**
 * The fields for an input, by the tool's schema: the values of the input in order, then the other properties of the schema; values that a
 * form has no room for are shown in one field. The consent covers exactly the shown values. `asksFor`: it is a question, whose defaults
 * are proposed.
 */
export function fieldsOf(
  { properties, required }: InputSchema,
  input: Record<string, unknown>,
  { asksFor = false } = {},
): SchemaField[] {
  const known = typeof properties === "object" && properties !== null ? properties : {};
  const needed = Array.isArray(required) ? required : [];
  const names = [...new Set([...Object.keys(input), ...Object.keys(known)])];
  const rest = names.slice(fieldsAtMost).filter((name) => name in input);
  const more: SchemaField = {
    name: "",
    label: "Más datos",
    hint: undefined,
    kind: "fixed",
    value: readable(Object.fromEntries(rest.map((name) => [name, input[name]]))),
    choices: [],
    required: false,
  };
  const fields = names.slice(0, fieldsAtMost).map((name) => {
    const { title, description, enum: choices, ...one } = property(known[name]);
    const value = name in input ? input[name] : asksFor ? one.default : undefined;
    return {
      name,
      label: said(title, 80) ?? name.slice(0, 80),
      hint: said(description, 300),
      ...kindOf({ ...one, enum: choices }, value),
      required: needed.includes(name),
    };
  });
  return rest.length > 0 ? [...fields, more] : fields;
}

function kindOf(
  { type, enum: choices, maxLength }: Property,
  value: unknown,
): Pick<SchemaField, "kind" | "value" | "choices"> {
  const none: string[] = [];
  if (Array.isArray(choices) && choices.every((one) => typeof one === "string") && isOrNothing(value, "string")) {
    return { kind: "choice", value: String(value ?? ""), choices: choices.map(String) };
  }
  if (type === "string" && isOrNothing(value, "string")) {
    const text = String(value ?? "");
    const isLong = text.length > longLine || text.includes("\n") || Number(maxLength) > 300;
    return { kind: isLong ? "area" : "text", value: text, choices: none };
  }
  if ((type === "number" || type === "integer") && (value === undefined || digitsOf(value) !== undefined)) {
    return { kind: "number", value: digitsOf(value) ?? "", choices: none };
  }
  if (type === "boolean" && isOrNothing(value, "boolean"))
    return { kind: "flag", value: value ? "1" : "", choices: none };
  if (value === undefined) return { kind: "fixed", value: "", choices: none };
  return { kind: "fixed", value: readable(value), choices: none };
}

// Levels of nesting: deeper than anybody reads, and far below the limit of the stack.
const deepest = 12;

/** A value of any shape in lines that people read: lists with dashes, objects with their names, nested values indented. */
function readable(value: unknown, indent = ""): string {
  if (typeof value !== "object" || value === null) return String(value);
  const digits = digitsOf(value);
  if (digits !== undefined) return digits;
  if (indent.length > 2 * deepest) return JSON.stringify(value);
  const isList = Array.isArray(value);
  const simple = (one: unknown) => typeof one !== "object" || one === null || digitsOf(one) !== undefined;
  if (isList && value.every(simple)) return value.map((one) => readable(one)).join(", ");
  return Object.entries(value)
    .map(([name, one]) => {
      const head = isList ? "–" : `${name}:`;
      if (simple(one) || (Array.isArray(one) && one.every(simple))) return `${indent}${head} ${readable(one)}`;
      const inside = readable(one, `${indent}  `);
      return isList ? `${indent}${head} ${inside.trimStart()}` : `${indent}${head}\n${inside}`;
    })
    .join("\n");
}

const isOrNothing = (value: unknown, type: string) => value === undefined || typeof value === type;

/** The name of a field in its form. */
export const fieldName = (name: string) => `campo.${name}`;

/** The previous input with the changes of the form's fields, and a sentence for each field that is wrong. */
export function inputFrom(
  fields: SchemaField[],
  input: Record<string, unknown>,
  typed: (name: string) => string,
): { input: Record<string, unknown>; errors: Record<string, string> } {
  const after = { ...input };
  const errors: Record<string, string> = {};
  for (const { name, label, kind, value, required } of fields) {
    if (kind === "fixed") continue;
    // Forms send lines with CRLF.
    const text = typed(fieldName(name)).replace(/\r\n/g, "\n");
    const isUntouched = text === value.replace(/\r\n/g, "\n");
    if (isUntouched && (name in input || (text === "" && !required))) continue;
    if (kind === "flag") after[name] = text === "1";
    else if (text === "" && !required) delete after[name];
    else if (kind === "number") {
      const number = numberIn(text);
      if (number === undefined) errors[fieldName(name)] = `«${label}» tiene que ser un número.`;
      else after[name] = number;
    } else if (text === "" && required) errors[fieldName(name)] = `Falta «${label}».`;
    else after[name] = text;
  }
  return { input: after, errors };
}
