import { z } from "@hono/zod-openapi";
import type { ModelRow } from "../../db/tables.ts";
import { encrypt, tryDecrypt } from "../../process/crypto.server.ts";
import { limits } from "../../process/limits.ts";
import { knownModel } from "../../replies/providers/known-models.server.ts";
import { serverAddressOf, whyNoServer } from "../../replies/providers/model-address.server.ts";
import { parametersIn, refusableParameters } from "../../replies/providers/refused-parameters.server.ts";
import type { Person, Services } from "../env.server.ts";
import { groupIds, parseGroupIds, shownGroupIds } from "../groups/group-ids.server.ts";
import { invalid } from "../http/problem.server.ts";
import { flag, flagsOf, position, rowFields, text, timesOf } from "../http/schemas.server.ts";
import { serverAddress, serverKey } from "./model-server.server.ts";

const provider = z.enum(
  ["openai", "anthropic", "google", "openai-compatible", "ollama", "local"],
  "Ese proveedor no existe.",
);

const reasoning = z.enum(["low", "medium", "high"], "El razonamiento es bajo, medio o alto.");

/**
 * `baseUrl`, `hasKey` and `systemPrompt` are for admins; others get null, false and an empty text. The key is never
 * answered.
 */
export const model = z
  .object({
    ...rowFields,
    name: z.string(),
    provider,
    externalId: z.string(),
    baseUrl: z.string().nullable(),
    hasKey: z.boolean(),
    keyLost: z
      .boolean()
      .openapi({ description: "Si la clave se guardó con otro secreto y hay que escribirla otra vez." }),
    contextWindow: z.number(),
    maxOutputTokens: z.number(),
    temperature: z.number().nullable(),
    reasoning: reasoning.nullable(),
    acceptsImages: z.boolean(),
    usesTools: z.boolean(),
    refused: z.string(),
    pseudonyms: z.boolean(),
    resumes: z.boolean(),
    helpsSearch: z.boolean(),
    fallbackId: z.string().nullable(),
    atOnce: z.number().nullable(),
    purpose: z.string().openapi({ description: "Para qué es, en una frase." }),
    systemPrompt: z.string(),
    inputPrice: z.number().nullable(),
    outputPrice: z.number().nullable(),
    cachedPrice: z.number().nullable(),
    enabled: z.boolean(),
    isDefault: z.boolean(),
    position: z.number(),
    groupIds: shownGroupIds,
  })
  .openapi("Model");

const whole = (label: string, max: number) =>
  z
    .number(`${label} tiene que ser un número.`)
    .int(`${label} tiene que ser un número entero.`)
    .min(1, `${label} tiene que ser mayor que cero.`)
    .max(max, `${label} es demasiado grande.`);
const price = z.number("El precio tiene que ser un número.").min(0, "El precio no puede ser negativo.").nullable();

export const newModel = z.strictObject({
  name: text("El nombre", limits.modelName, 1),
  provider,
  externalId: text("El identificador del proveedor", 200, 1),
  baseUrl: serverAddress.nullable().default(null),
  apiKey: serverKey,
  contextWindow: whole("La ventana de contexto", 10_000_000)
    .nullable()
    .default(null)
    .openapi({ description: "null: la de un modelo conocido; de otro, 32.768." }),
  maxOutputTokens: whole("El máximo de salida", 1_000_000)
    .nullable()
    .default(null)
    .openapi({ description: "null: 8.192 de un modelo conocido; de otro, 4.096." }),
  temperature: z
    .number("La temperatura tiene que ser un número.")
    .min(0, "La temperatura va de 0 a 2.")
    .max(2, "La temperatura va de 0 a 2.")
    .nullable()
    .default(null),
  reasoning: reasoning
    .nullable()
    .default(null)
    .openapi({ description: "Cuánto se le pide que piense antes de escribir; null: no se le pide nada." }),
  acceptsImages: flag.default(false),
  usesTools: flag.default(true).openapi({ description: "Si se le ofrecen herramientas." }),
  refused: text("La lista de parámetros", 500)
    .default("")
    .refine(
      (names) =>
        names.split(/[\s,;]+/).every((name) => name === "" || refusableParameters.some((known) => known === name)),
      `Los parámetros que se pueden dejar de enviar son: ${refusableParameters.join(", ")}.`,
    )
    .transform((names) => parametersIn(names).join(" "))
    .openapi({ description: "Los parámetros que su servidor no admite, separados por espacios. Se apuntan solos." }),
  pseudonyms: flag.default(false).openapi({
    description: "Si se le ocultan identificadores (DNI, IBAN, teléfonos…): recibe marcas en su lugar.",
  }),
  resumes: flag.default(true).openapi({ description: "Si una respuesta que corta un reinicio sigue sola." }),
  helpsSearch: flag.default(false).openapi({
    description: "Si se le pide que diga de otra manera una pregunta cuyas palabras encuentran poco en los documentos.",
  }),
  fallbackId: z
    .string()
    .nullable()
    .default(null)
    .openapi({ description: "El modelo que sigue si este falla antes de escribir nada." }),
  atOnce: whole("Cuántas a la vez", 10_000)
    .nullable()
    .default(null)
    .openapi({ description: "Cuántas respuestas escribe a la vez, como mucho; las demás esperan su turno." }),
  purpose: text("Para qué es", limits.assistantPurpose).default(""),
  systemPrompt: text("Las instrucciones", limits.modelText).default(""),
  inputPrice: price.default(null),
  outputPrice: price.default(null),
  cachedPrice: price
    .default(null)
    .openapi({ description: "De la entrada que el proveedor ya tenía guardada; null: el de la entrada." }),
  enabled: flag.default(true),
  isDefault: flag.default(false),
  position,
  groupIds,
});
type NewModel = z.output<typeof newModel>;

/** A model as the API shows it to this person. */
export function showModel(
  { modelKey }: Pick<Services, "modelKey">,
  row: ModelRow,
  person: Pick<Person, "role">,
): z.output<typeof model> {
  const forAdmin = person.role === "admin";
  const { apiKey, createdAt, updatedAt, ...shown } = row;
  return {
    ...shown,
    ...timesOf({ createdAt, updatedAt }),
    ...flagsOf(row, "acceptsImages", "usesTools", "pseudonyms", "resumes", "helpsSearch", "enabled", "isDefault"),
    baseUrl: forAdmin ? row.baseUrl : null,
    hasKey: forAdmin && apiKey !== null,
    keyLost: forAdmin && apiKey !== null && tryDecrypt(apiKey, modelKey, row.id) === undefined,
    groupIds: forAdmin ? parseGroupIds(row) : null,
    systemPrompt: forAdmin ? row.systemPrompt : "",
    fallbackId: forAdmin ? row.fallbackId : null,
    atOnce: forAdmin ? row.atOnce : null,
  };
}

/** Columns that a body makes; without a new key the old, encrypted one stays. Throws 422 for an address of another protocol. */
export function toColumns(
  { modelKey }: Services,
  id: string,
  given: NewModel,
  { oldKey, isNew }: { oldKey: string | null; isNew: boolean },
) {
  const why = given.baseUrl && whyNoServer(given.provider, given.baseUrl);
  if (why) throw invalid("baseUrl", why);
  const baseUrl = given.baseUrl && serverAddressOf(given.provider, given.baseUrl);
  const known = knownModel({ ...given, baseUrl });
  const isPriced = [given.inputPrice, given.outputPrice, given.cachedPrice].some((price) => price !== null);
  return {
    ...given,
    // Only for a new model: where somebody has removed the prices, they stay removed.
    ...(isNew && !isPriced && known && pricesOf(known)),
    contextWindow: given.contextWindow ?? known?.contextWindow ?? 32_768,
    // The model's full maximum would take room from the prompt that no answer needs.
    maxOutputTokens: given.maxOutputTokens ?? (known ? Math.min(8_192, known.maxOutputTokens) : 4_096),
    baseUrl,
    apiKey: given.apiKey ? encrypt(given.apiKey, modelKey, id) : oldKey,
  };
}

const pricesOf = ({ inputPrice, outputPrice, cachedPrice }: NonNullable<ReturnType<typeof knownModel>>) => ({
  inputPrice,
  outputPrice,
  cachedPrice,
});
