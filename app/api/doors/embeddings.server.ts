import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { limits } from "../../process/limits.ts";
import { refuseBeyondPlan, settleUsage } from "../../replies/usage.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { takesBodyOf } from "../http/bodies.server.ts";
import { answerInvalid, Problem } from "../http/problem.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, bearer, takes } from "../http/schemas.server.ts";
import { problemOf } from "./door.server.ts";
import { everyFieldOf, whole } from "./door-request.server.ts";
import { forOpenAi } from "./openai-clients.server.ts";

const textsAtMost = 2_048;
// In ms, for all texts of a request.
const patience = 60_000;

const one = z
  .string("«input» tiene que ser un texto o una lista de textos.")
  .min(1, "En «input» hay un texto vacío.")
  .max(limits.message, `Cada texto puede tener ${limits.message.toLocaleString("es")} caracteres como mucho.`);
const asked = everyFieldOf(
  {
    input: z.union(
      [one, z.array(one).min(1, "«input» está vacío.").max(textsAtMost, `Son más de ${textsAtMost} textos.`)],
      "«input» tiene que ser un texto o una lista de textos.",
    ),
    model: z.string().max(200).optional().openapi({ description: "Se usa siempre el modelo de búsqueda." }),
    encoding_format: z.enum(["float", "base64"], "«encoding_format» tiene que ser float o base64.").nullish(),
    dimensions: whole.max(8_192, "Tiene que ser 8192 o menos.").nullish(),
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

const embedTexts: RouteHandler<typeof route, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const { input, encoding_format, dimensions } = c.req.valid("json");
  await countAttempt(c, "embeddings", person.id);
  const model = await services.searchModel.current();
  if (!model)
    throw new Problem(404, "Aquí no hay modelo de búsqueda, que es el que da embeddings. Lo pone quien administra.");
  await refuseBeyondPlan(services.db, person.id, Date.now());
  const texts = [input].flat();
  const signal = AbortSignal.any([c.req.raw.signal, AbortSignal.timeout(patience)]);
  const vectors = await services.searchModel.vectorsOf(model, texts, signal, dimensions ?? undefined).catch((error) => {
    throw problemOf(error, c.req.raw.signal);
  });
  // The server counts tokens in its own way, or not at all; 3.5 characters per token is about right for Spanish.
  const tokens = Math.ceil(texts.join("").length / 3.5);
  const free = { id: model.id, inputPrice: null, outputPrice: null, cachedPrice: null };
  await settleUsage(services.db, person.id, free, { inputTokens: tokens, outputTokens: 0 }, Date.now());
  return c.json(
    {
      object: "list" as const,
      model: model.externalId,
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
