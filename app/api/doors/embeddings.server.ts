import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Embedded } from "../../embeddings/embed.server.ts";
import { limits } from "../../process/limits.ts";
import { refuseBeyondPlan, settleUsage } from "../../replies/usage.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { takesBodyOf } from "../http/bodies.server.ts";
import { answerInvalid, Problem } from "../http/problem.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, bearer, takes } from "../http/schemas.server.ts";
import { problemOf } from "./door.server.ts";
import { everyFieldOf, positiveInteger } from "./door-request.server.ts";
import { forOpenAi } from "./openai-clients.server.ts";

const textsAtMost = 2_048;
// In ms, for all texts of a request.
const patience = 60_000;

const sentence = "«input» tiene que ser un texto, una lista de textos, o sus tokens.";
const inputText = z
  .string(sentence)
  .min(1, "En «input» hay un texto vacío.")
  .max(limits.message, `Cada texto puede tener ${limits.message.toLocaleString("es")} caracteres como mucho.`);
const alone = <Item>(item: Item): Item[] => [item];
const severalOf = <Item extends z.ZodType>(item: Item) =>
  z.array(item).min(1, "«input» está vacío.").max(textsAtMost, `Son más de ${textsAtMost} textos.`);
// Clients such as LangChain's send tokens, which only a server with the same tokenizer understands.
const tokens = z
  .array(z.int().min(0))
  .min(1, "En «input» hay un texto vacío.")
  .max(limits.message, `Cada texto puede tener ${limits.message.toLocaleString("es")} tokens como mucho.`);
/** The texts of a request, or their tokens, as a list. */
export const embedded = z.union(
  [inputText.transform(alone), severalOf(inputText), tokens.transform(alone), severalOf(tokens)],
  sentence,
);
const asked = everyFieldOf(
  {
    input: embedded,
    model: z.string().max(200).optional().openapi({ description: "Se usa siempre el modelo de búsqueda." }),
    encoding_format: z.enum(["float", "base64"], "«encoding_format» tiene que ser float o base64.").nullish(),
    dimensions: positiveInteger.max(8_192, "Tiene que ser 8192 o menos.").nullish(),
  },
  { withoutEffect: ["user"] },
);
const embeddings = z
  .object({
    object: z.literal("list"),
    model: z.string(),
    data: z.array(
      z.object({
        object: z.literal("embedding"),
        index: z.number(),
        embedding: z
          .union([z.array(z.number()), z.string()])
          .openapi({ description: "Con base64, los números de 32 bits seguidos (little-endian)." }),
      }),
    ),
    usage: z.object({ prompt_tokens: z.number(), total_tokens: z.number() }),
  })
  .openapi("Embeddings");

const route = createRoute({
  method: "post",
  path: "/embeddings",
  security: bearer,
  middleware: [forOpenAi, signedIn, active, takesBodyOf(limits.completionBody)],
  request: { body: takes(asked) },
  responses: {
    200: answers(embeddings, "Lo que significan los textos para el modelo de búsqueda, como lo da OpenAI."),
  },
});

/**
 * Vectors of texts, or of the tokens of texts, by the house's search model, and the tokens that they cost the person. Throws 404 without such
 * a model, LimitReached, and a Problem if the model fails.
 */
export async function embedFor(c: Context<ApiEnv>, input: Embedded[], dimensions: number | undefined) {
  const { person, services } = c.var;
  await countAttempt(c, "embeddings", person.id);
  const model = await services.searchModel.current();
  if (!model)
    throw new Problem(404, "Aquí no hay modelo de búsqueda, que es el que da embeddings. Lo pone quien administra.");
  await refuseBeyondPlan(services.db, person.id, Date.now());
  const signal = AbortSignal.any([c.req.raw.signal, AbortSignal.timeout(patience)]);
  const vectors = await services.searchModel.vectorsOf(model, input, signal, dimensions).catch((error) => {
    throw problemOf(error, c.req.raw.signal);
  });
  // The server counts tokens in its own way, or not at all; 3.5 characters per token is about right for Spanish.
  const used = input.reduce<number>(
    (sum, text) => sum + (typeof text === "string" ? text.length / 3.5 : text.length),
    0,
  );
  const tokens = Math.ceil(used);
  const free = { id: model.id, inputPrice: null, outputPrice: null, cachedPrice: null };
  await settleUsage(services.db, person.id, free, { inputTokens: tokens, outputTokens: 0 }, Date.now());
  return { model: model.externalId, vectors, tokens };
}

const embedTexts: RouteHandler<typeof route, ApiEnv> = async (c) => {
  const { input, encoding_format, dimensions } = c.req.valid("json");
  const { model, vectors, tokens } = await embedFor(c, input, dimensions ?? undefined);
  return c.json(
    {
      object: "list" as const,
      model,
      data: vectors.map((numbers, index) => ({
        object: "embedding" as const,
        index,
        embedding: encoding_format === "base64" ? asBase64(numbers) : numbers,
      })),
      usage: { prompt_tokens: tokens, total_tokens: tokens },
    },
    200,
  );
};

const asBase64 = (numbers: number[]) => Buffer.from(Float32Array.from(numbers).buffer).toString("base64");

export const embeddingsForPrograms = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(route, embedTexts);
