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
  const { $schema: _schema, $id: _id, ...top } = followed(given, given);
  const { anyOf, oneOf, allOf, properties, required, ...rest } = top;
  const all: Schema[] = [];
  const required_: string[][] = [stringsIn(required)];
  for (const alternatives of [anyOf, oneOf].map(listOf)) {
    const each = alternatives.map((one) => schemaForModels(followed(recordOf(one) ?? {}, given)));
    all.push(...each);
    // A name is required if all alternatives require it.
    const [first = [], ...others] = each.map((one) => stringsIn(one.required));
    required_.push(first.filter((name) => others.every((other) => other.includes(name))));
  }
  for (const one of listOf(allOf)) {
    const part = schemaForModels(followed(recordOf(one) ?? {}, given));
    all.push(part);
    required_.push(stringsIn(part.required));
  }
  const merged: Schema = Object.assign({}, ...all.map((one) => one.properties), recordOf(properties));
  const needed = [...new Set(required_.flat())].filter((name) => name in merged);
  return { ...rest, type: "object", properties: merged, ...(needed.length > 0 && { required: needed }) };
}

const types = ["string", "number", "integer", "boolean", "array", "object", "null"];

/** A schema with nothing but types, names, descriptions and choices, which every server understands. */
export function plainSchema(given: Schema): Schema {
  let left = partsAtMost;
  return plain(given, 0);

  function plain(schema: Schema, deep: number): Schema {
    left--;
    const { type, description, properties, items, required, enum: choices, anyOf, oneOf } = whole(schema);
    const said = typeof description === "string" ? { description } : {};
    const inner = deep < deepest && left > 0;
    // Of several types or alternatives, the first one that is something.
    const [other] = [...listOf(anyOf), ...listOf(oneOf)].map(recordOf).filter((one) => one && one.type !== "null");
    if (other && inner) return { ...plain(other, deep + 1), ...said };
    const [named] = [type].flat().filter((one) => typeof one === "string" && one !== "null" && types.includes(one));
    const kind = named ?? (recordOf(properties) ? "object" : typeOf(listOf(choices)));
    if (kind === "array") return { type: kind, ...said, items: inner ? plain(recordOf(items) ?? {}, deep + 1) : text };
    if (kind !== "object") return { type: kind, ...said, ...(Array.isArray(choices) && { enum: choices }) };
    const own = inner ? Object.entries(recordOf(properties) ?? {}) : [];
    const shown = own.map(([name, one]) => [name, plain(recordOf(one) ?? {}, deep + 1)] as const);
    const needed = stringsIn(required).filter((name) => shown.some(([known]) => known === name));
    return {
      ...{ type: kind, ...said, properties: Object.fromEntries(shown) },
      ...(needed.length > 0 && { required: needed }),
    };
  }

  /** A schema with what it refers to, also through other references, and with all parts of `allOf`. */
  function whole(schema: Schema): Schema {
    const found = followed(schema, given);
    const parts = listOf(found.allOf)
      .map(recordOf)
      .filter((one) => one !== undefined);
    if (parts.length === 0 || left <= 0) return found;
    left -= parts.length;
    const all = parts.map((one) => followed(one, given));
    const properties = Object.assign({}, ...all.map((one) => one.properties), found.properties);
    const { allOf: _allOf, ...rest } = found;
    return { ...Object.assign({}, ...all), ...rest, ...(Object.keys(properties).length > 0 && { properties }) };
  }
}

const text = { type: "string" };
// Parts of a plain schema: a schema may refer to itself several times.
const partsAtMost = 500;

const typeOf = (choices: unknown[]): string =>
  choices.length > 0 && choices.every((choice) => typeof choice === "number") ? "number" : "string";

/** A schema or the one in `root` that it refers to, also through others. */
function followed(schema: Schema, root: Schema): Schema {
  let found = schema;
  for (let n = 0; n < deepest && "$ref" in found; n++) {
    const { $ref, ...rest } = found;
    const [, group = "", name = ""] =
      /^#\/(\$defs|definitions)\/([^/]+)$/.exec(typeof $ref === "string" ? $ref : "") ?? [];
    found = { ...recordOf(recordOf(root[group])?.[name]), ...rest };
  }
  const { $ref: _ref, ...rest } = found;
  return rest;
}

const stringsIn = (value: unknown): string[] => listOf(value).filter((one) => typeof one === "string");
