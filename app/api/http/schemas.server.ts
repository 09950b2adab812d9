import { z } from "@hono/zod-openapi";
import { limits } from "../../process/limits.ts";
import { isForbiddenUrl } from "../../process/network/addresses.server.ts";
import { storedJson } from "../../process/text/json.ts";

// Made once: a number's own toLocaleString makes a new formatter each time, and there is a schema for each field.
const spanish = new Intl.NumberFormat("es");

/** Text from a person: trimmed, without NUL (PostgreSQL refuses it), with a maximum length. */
export const text = (label: string, max: number, min = 0) =>
  z
    .string(`${label} tiene que ser un texto.`)
    .transform((value) => value.replaceAll("\0", "").trim())
    .pipe(
      z
        .string()
        .min(min, min === 1 ? `Falta ${label.toLowerCase()}.` : `${label} tiene que tener ${min} caracteres o más.`)
        .max(max, `${label} puede tener ${spanish.format(max)} caracteres como mucho.`),
    )
    // A pipe loses the maximum.
    .openapi({ maxLength: max });

/** Text from a person on a single line, such as a name, which goes into headers and sentences. */
export const line = (label: string, max: number, min = 0) =>
  z
    .string(`${label} tiene que ser un texto.`)
    .transform((value) => value.replace(/[\p{Cc}\s]+/gu, " "))
    .pipe(text(label, max, min))
    .openapi({ maxLength: max });

/** Address of a server; `what` names the thing at it («un modelo»). */
export const serverUrl = (what: string, max: number) =>
  z
    .url({ protocol: /^https?$/, error: "La dirección tiene que empezar por http:// o https://." })
    .max(max, "La dirección es demasiado larga.")
    .refine(
      (url) => !isForbiddenUrl(url),
      `En esa dirección no puede haber ${what}: es de la propia red de la máquina.`,
    )
    .refine((url) => {
      const { username, password } = URL.parse(url) ?? {};
      return !username && !password;
    }, "La dirección no lleva usuario ni contraseña: escribe la clave en su campo.");

export const id = z
  .string("El identificador no es válido.")
  .min(1, "El identificador no es válido.")
  .max(64, "El identificador no es válido.")
  .regex(/^[^\0]*$/, "El identificador no es válido.");
export const flag = z.boolean("Tiene que ser verdadero o falso.");
export const position = z
  .number("La posición tiene que ser un número.")
  .int("La posición tiene que ser un número entero.")
  .default(0);
export const idParam = z.object({ id: id.openapi({ param: { name: "id", in: "path" } }) });

/** The body of a file, which is streamed. */
export const bytes = z.custom<ReadableStream<Uint8Array>>().openapi({ type: "string", format: "binary" });

export const iso = (time: number) => new Date(time).toISOString();
export const isoOrNull = (time: number | null) => (time === null ? null : iso(time));

/** The fields that every stored item has. */
export const rowFields = { id: z.string(), createdAt: z.string(), updatedAt: z.string() };
/** Marks an item in an administrator's list whose text is somebody else's and left out. */
export const withheld = z
  .literal(true)
  .optional()
  .openapi({ description: "Es de otra persona, y su texto no se enseña en una lista." });
/** When a row was made and last changed, as the API shows it. */
export const timesOf = (row: { createdAt: number; updatedAt: number }) => ({
  createdAt: iso(row.createdAt),
  updatedAt: iso(row.updatedAt),
});
/** Columns that hold flags, as the API shows them. */
export const flagsOf = <Name extends string>(row: Record<Name, 0 | 1>, ...names: Name[]) =>
  Object.fromEntries(names.map((name) => [name, row[name] === 1])) as Record<Name, boolean>;

/** The unsent text of a composer. */
export const draft = z
  .object({
    content: z.string().max(limits.draft, "El borrador es demasiado largo."),
    modelId: id.nullable().default(null),
    fileIds: z
      .array(id, "fileIds tiene que ser una lista.")
      .max(limits.filesPerMessage, `Un mensaje puede llevar ${limits.filesPerMessage} archivos como mucho.`)
      .default([]),
  })
  .nullable()
  .openapi("Draft");
export type StoredDraft = NonNullable<z.output<typeof draft>>;
// Drafts of older versions have no files.
export const parseDraft = (stored: string | null): StoredDraft | null =>
  stored ? { fileIds: [], ...storedJson<Omit<StoredDraft, "fileIds">>(stored) } : null;

/** A JSON answer of a route, for the OpenAPI document and the client's types. */
export const answers = <Schema extends z.ZodType>(schema: Schema, description: string) => ({
  content: { "application/json": { schema } },
  description,
});
export const takes = <Schema extends z.ZodType>(schema: Schema) => ({
  content: { "application/json": { schema } },
  required: true,
});
export const bearer = [{ bearer: [] }];

/** How the keys of imported messages begin. */
export const importKeyStart = "import:";
