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
  summary?: string;
  tags?: string[];
  security?: unknown[];
  parameters?: { name: string; in: string; required?: boolean; schema?: Schema; description?: string }[];
  requestBody?: { content: Content };
  responses: Record<string, { description?: string; content?: Content }>;
};
export type Document = {
  paths?: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Schema> };
};

// Every call may answer with one of these; what they say is in `detail`.
const problems = {
  401: "Sin sesión, o la sesión ha terminado.",
  404: "No existe, o no puedes verlo.",
  422: "Datos no válidos.",
};

/** The document with what the schemas alone do not say: an example of each body, and the errors. */
export function withExamples(document: Document): Document {
  const schemas = document.components?.schemas ?? {};
  for (const operations of Object.values(document.paths ?? {})) {
    for (const operation of Object.values(operations)) {
      const bodies = [operation.requestBody, ...Object.values(operation.responses)];
      for (const content of bodies.flatMap((body) => Object.values(body?.content ?? {}))) {
        if (content.schema && !content.schema.format) content.example ??= sampleOf(content.schema, schemas);
      }
      for (const [status, description] of Object.entries(problems)) {
        if (status === "401" && !operation.security) continue;
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

const deepest = 6;

// What a text with such a name looks like; a reader can send it as it stands.
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

/** A value of a schema's shape; `name` is the property it is of. */
function sampleOf(schema: Schema, schemas: Record<string, Schema>, name = "", depth = 0): unknown {
  if (schema.example !== undefined) return schema.example;
  if (schema.default !== undefined) return schema.default;
  if (depth > deepest) return null;
  const inner = (one: Schema, of = name) => sampleOf(one, schemas, of, depth + 1);
  if (schema.$ref) return inner(schemas[schema.$ref.split("/").at(-1) ?? ""] ?? {});
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const [choice] = schema.oneOf ?? schema.anyOf ?? [];
  if (choice) return inner(choice);
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((one) => inner(one)));
  const type = [schema.type].flat()[0];
  if (schema.properties) {
    return Object.fromEntries(Object.entries(schema.properties).map(([key, one]) => [key, inner(one, key)]));
  }
  if (type === "array") return schema.items ? [inner(schema.items)] : [];
  if (type === "number" || type === "integer") return 1;
  if (type === "boolean") return true;
  if (type === "object") return {};
  return samples.find(([pattern]) => pattern.test(name))?.[1] ?? "texto";
}
