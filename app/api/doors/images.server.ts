import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { v7 as newId } from "uuid";
import { ConcurrencyLimit } from "../../process/work/concurrency-limit.server.ts";
import { ToolRefused } from "../../tools/tool.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, invalid, Problem } from "../http/problem.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, bearer, takes } from "../http/schemas.server.ts";
import { zoneOfCall } from "../site/time-zone.server.ts";
import { everyFieldOf, text } from "./door-request.server.ts";
import { forOpenAi } from "./openai-clients.server.ts";

/** Sizes, with the word that the house's tool has for their shape. */
const shapes = { "1024x1024": "cuadrada", "1536x1024": "apaisada", "1024x1536": "vertical", auto: "cuadrada" } as const;

const route = createRoute({
  method: "post",
  path: "/images/generations",
  security: bearer,
  middleware: [forOpenAi, signedIn, active],
  request: {
    body: takes(
      everyFieldOf(
        {
          model: z.string().max(200).optional().openapi({ description: "Se usa siempre el de la casa." }),
          prompt: text.pipe(z.string().min(1, "Falta «prompt».").max(4_000, "Son más de 4000 caracteres.")),
          n: z.literal(1, "Aquí se hace una imagen cada vez.").optional(),
          size: z
            .enum(Object.keys(shapes) as (keyof typeof shapes)[], `size es ${Object.keys(shapes).join(", ")}.`)
            .optional(),
          response_format: z.literal("b64_json", "Las imágenes se dan en b64_json.").optional(),
          // Clients send what is usual by its name.
          quality: z.enum(["auto", "standard"], "Aquí no hay «quality».").optional(),
          background: z.literal("auto", "Aquí no hay «background».").optional(),
          moderation: z.literal("auto", "Aquí no hay «moderation».").optional(),
        },
        { withoutEffect: ["user"] },
      ).openapi("OpenAiImageRequest", { example: { prompt: "Un frontón de pueblo", size: "1024x1024" } }),
    ),
  },
  responses: {
    200: answers(
      z.object({ created: z.number(), data: z.array(z.object({ b64_json: z.string() })) }).openapi("OpenAiImages"),
      "La imagen, en base64. No se guarda aquí.",
    ),
  },
});

// Requests at once, of one person in this process: each image may be twenty megabytes.
const making = new ConcurrencyLimit(2);

const makeImage: RouteHandler<typeof route, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const { prompt, size = "auto" } = c.req.valid("json");
  // The limits for the tool's groups and for people under age apply as in conversations.
  const { tools } = await services.toolbox.offered(person.id, []);
  const tool = tools.find((one) => one.server === null && one.tool === "crear_imagen");
  if (!tool) throw new Problem(404, "Aquí no hay ningún servicio que haga imágenes, o no lo puedes usar.");
  await countAttempt(c, "speech", person.id);
  if (!making.enter(person.id)) throw new Problem(429, "Ya se te están haciendo otras imágenes. Espera a que acaben.");
  try {
    const signal = AbortSignal.any([c.req.raw.signal, AbortSignal.timeout(tool.time)]);
    const caller = {
      userId: person.id,
      chatId: "",
      projectId: null,
      sessionId: null,
      modelId: null,
      messageId: newId(),
      zone: await zoneOfCall(c),
    };
    const outcome = await tool
      .call({ descripcion: prompt, forma: shapes[size] }, { ...caller, signal, length: tool.length, answers: [] })
      .catch((error: unknown) => {
        if (error instanceof ToolRefused) throw invalid("prompt", error.message);
        if (signal.aborted) throw new Problem(504, "El servicio de imágenes ha tardado demasiado.");
        throw error;
      });
    const [image] = "made" in outcome ? (outcome.made ?? []) : [];
    if (!image) throw new Problem(502, "El servicio de imágenes no ha devuelto ninguna imagen.");
    const data = [{ b64_json: Buffer.from(image.bytes).toString("base64") }];
    return c.json({ created: Math.floor(Date.now() / 1000), data }, 200);
  } finally {
    making.leave(person.id);
  }
};

/** OpenAI's call for images, answered by the house's own image service. */
export const imagesForPrograms = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(route, makeImage);
