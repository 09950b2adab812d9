type Schema = {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  enum?: unknown[];
  const?: unknown;
  example?: unknown;
  default?: unknown;
  format?: string;
  description?: string;
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
};
type Content = Record<string, { schema?: Schema; example?: unknown }>;
type Operation = {
  operationId?: string;
  summary?: string;
  tags?: string[];
  security?: unknown[];
  parameters?: { name: string; in: string; required?: boolean; schema?: Schema; description?: string }[];
  requestBody?: { content: Content };
  responses: Record<string, { description?: string; content?: Content }>;
};
export type OpenApiDocument = {
  paths?: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Schema> };
};

// Errors that every call may return.
const problems = {
  401: "Sin sesión, o la sesión ha terminado.",
  403: "La cuenta, la clave o lo que ADMIN_READS dice no lo permiten. `Asks-Purpose`: antes hay que decir para qué.",
  404: "No existe, o no puedes verlo.",
  422: "Datos no válidos.",
};

/** The operationId, as generated clients use it: «getApiChatById». */
const operationName = (method: string, path: string) =>
  method +
  path
    .replace(/\{(\w+)\}/g, (_, name: string) => `By-${name}`)
    .split(/[^a-zA-Z]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");

/** Adds to the document what the schemas do not say: examples of bodies, and errors. */
export function withExamples(document: OpenApiDocument): OpenApiDocument {
  const schemas = document.components?.schemas ?? {};
  for (const [path, operations] of Object.entries(document.paths ?? {})) {
    for (const [method, operation] of Object.entries(operations)) {
      operation.operationId = operationName(method, path);
      const bodies = [operation.requestBody, ...Object.values(operation.responses)];
      for (const content of bodies.flatMap((body) => Object.values(body?.content ?? {}))) {
        if (content.schema && !content.schema.format) content.example ??= sampleOf(content.schema, schemas);
      }
      for (const [status, description] of Object.entries(problems)) {
        if ((status === "401" || status === "403") && !operation.security) continue;
        operation.responses[status] ??= { description, content: { "application/problem+json": { schema: problem } } };
      }
    }
  }
  return document;
}

const problem: Schema = {
  type: "object",
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    errors: { type: "object" },
    requestId: { type: "string" },
  },
};

// Maximum depth of examples, for recursive schemas.
const deepest = 8;

// Example values by property name, valid as they are.
const samples: [name: RegExp, sample: string][] = [
  [/^externalId$/, "gpt-4o"],
  [/^id$|Id$|Ids$/, "01976e2f-4c1a-7b3d-9e5f-2a6b8c0d1e2f"],
  [/At$/, "2026-11-21T09:30:00.000Z"],
  [/email/i, "ana@ejemplo.es"],
  [/password/i, "una frase larga y rara"],
  [/^name$/, "Ana"],
  [/^slug$/, "una-pagina"],
  [/^title$/, "Un título"],
  [/^(content|message)$/, "Hola"],
];

/** A value of a schema's shape; `name`: the property that has the value. */
function sampleOf(schema: Schema, schemas: Record<string, Schema>, name = "", depth = 0): unknown {
  if (schema.example !== undefined) return schema.example;
  if (schema.default !== undefined) return schema.default;
  if (depth > deepest) return null;
  // References and choices do not add depth; only nested values do.
  const same = (one: Schema) => sampleOf(one, schemas, name, depth);
  const inner = (one: Schema, of = name) => sampleOf(one, schemas, of, depth + 1);
  if (schema.$ref) return same(schemas[schema.$ref.replace(/^.*\//, "")] ?? {});
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const [choice] = schema.oneOf ?? schema.anyOf ?? [];
  if (choice) return same(choice);
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((one) => inner(one)));
  const type = [schema.type].flat()[0];
  if (schema.properties) {
    return Object.fromEntries(Object.entries(schema.properties).map(([key, one]) => [key, inner(one, key)]));
  }
  if (type === "array") return schema.items ? [inner(schema.items)] : [];
  if (type === "number" || type === "integer") return 1;
  if (type === "boolean") return true;
  if (type === "null") return null;
  if (type === "object") return {};
  return samples.find(([pattern]) => pattern.test(name))?.[1] ?? "texto";
}
