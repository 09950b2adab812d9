import { listOf, recordOf } from "../../process/text/json.ts";

type Schema = Record<string, unknown>;

// Schemas within schemas that are kept; a schema may refer to itself.
const deepest = 8;

/**
 * The schema of a tool's input as all providers take it: an object with properties at its top. Alternatives at the top (`anyOf`,
 * `oneOf`, `allOf`), which OpenAI, Anthropic and Google refuse, become the properties of all of them, and a reference at the top
 * becomes what it refers to. Deeper down nothing is changed.
 */
export function schemaForModels(given: Schema): Schema {
  const { $schema: _schema, $id: _id, ...top } = referred(given, given);
  const { anyOf, oneOf, allOf, properties, required, ...rest } = top;
  const all: Schema[] = [];
  const required_: string[][] = [stringsIn(required)];
  for (const alternatives of [anyOf, oneOf].map(listOf)) {
    const each = alternatives.map((one) => schemaForModels(referred(recordOf(one) ?? {}, given)));
    all.push(...each);
    // A name is required if all alternatives require it.
    const [first = [], ...others] = each.map((one) => stringsIn(one.required));
    required_.push(first.filter((name) => others.every((other) => other.includes(name))));
  }
  for (const one of listOf(allOf)) {
    const part = schemaForModels(referred(recordOf(one) ?? {}, given));
    all.push(part);
    required_.push(stringsIn(part.required));
  }
  const merged = Object.assign({}, ...all.map((one) => one.properties), recordOf(properties)) as Schema;
  const needed = [...new Set(required_.flat())].filter((name) => name in merged);
  return { ...rest, type: "object", properties: merged, ...(needed.length > 0 && { required: needed }) };
}

const types = ["string", "number", "integer", "boolean", "array", "object", "null"];

/** A schema with nothing but types, names, descriptions and choices, which every server understands. */
export function plainSchema(given: Schema, root: Schema = given, deep = 0): Schema {
  const schema = referred(given, root);
  const { type, description, properties, items, required, enum: choices, anyOf, oneOf } = schema;
  const said = typeof description === "string" ? { description } : {};
  // Of several types or alternatives, the first one that is something.
  const [other] = [...listOf(anyOf), ...listOf(oneOf)].map(recordOf).filter((one) => one && one.type !== "null");
  if (other && deep < deepest) return { ...plainSchema(other, root, deep + 1), ...said };
  const [named] = [type].flat().filter((one) => typeof one === "string" && one !== "null" && types.includes(one));
  const kind = named ?? (recordOf(properties) ? "object" : "string");
  if (kind === "array") {
    const item = deep < deepest ? plainSchema(recordOf(items) ?? {}, root, deep + 1) : { type: "string" };
    return { type: kind, ...said, items: item };
  }
  if (kind !== "object") return { type: kind, ...said, ...(Array.isArray(choices) && { enum: choices }) };
  const inner = deep < deepest ? Object.entries(recordOf(properties) ?? {}) : [];
  const plain = inner.map(([name, one]) => [name, plainSchema(recordOf(one) ?? {}, root, deep + 1)] as const);
  const needed = stringsIn(required).filter((name) => plain.some(([own]) => own === name));
  return {
    ...{ type: kind, ...said, properties: Object.fromEntries(plain) },
    ...(needed.length > 0 && { required: needed }),
  };
}

const stringsIn = (value: unknown): string[] => listOf(value).filter((one) => typeof one === "string");

/** A schema, or the one in `root` that it refers to: `#/$defs/Name`, `#/definitions/Name`. */
function referred(schema: Schema, root: Schema): Schema {
  const { $ref, ...rest } = schema;
  const [, group = "", name = ""] =
    /^#\/(\$defs|definitions)\/([^/]+)$/.exec(typeof $ref === "string" ? $ref : "") ?? [];
  const found = recordOf(recordOf(root[group])?.[name]);
  return found && !("$ref" in found) ? { ...rest, ...found } : rest;
}
