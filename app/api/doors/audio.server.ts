import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { limits } from "../../process/limits.ts";
import { ConcurrencyLimit } from "../../process/work/concurrency-limit.server.ts";
import { type HearingWishes, soundFormats, speak, voiceModel } from "../../voice/voice.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { takesBodyOf } from "../http/bodies.server.ts";
import { answerInvalid, invalid, Problem } from "../http/problem.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { bearer, bytes, takes } from "../http/schemas.server.ts";
import { asProblem, heard, noModel } from "../voice/voice.server.ts";
import { between, everyFieldOf, text } from "./door-request.server.ts";
import { forOpenAi } from "./openai-clients.server.ts";

// In characters: the limit of OpenAI's API.
const spokenAtMost = 4_096;
// Requests at once, of one person in this process.
const speaking = new ConcurrencyLimit(2);

const transcription = z.object({ text: z.string() }).openapi("OpenAiTranscription");
const form = z.object({
  file: z.any().openapi({ type: "string", format: "binary" }),
  model: z.string().optional().openapi({ description: "Se usa siempre el modelo de voz de la casa." }),
  response_format: z.enum(["json", "text"]).optional(),
  language: z.string().optional().openapi({ description: "Idioma de la grabación, como es." }),
  prompt: z.string().optional().openapi({ description: "Nombres y palabras que pueden salir en ella." }),
  temperature: z.string().optional().openapi({ description: "De 0 a 1." }),
});
const transcriptionRoute = {
  method: "post" as const,
  path: "/audio/transcriptions" as const,
  security: bearer,
  responses: {
    200: {
      content: { "application/json": { schema: transcription }, "text/plain": { schema: z.string() } },
      description: "Lo que se dice en la grabación.",
    },
  },
};

const wishes: Record<string, { pattern: RegExp; why: string }> = {
  language: { pattern: /^[a-z]{2,3}$/i, why: "language tiene que ser un código de dos letras, como es." },
  prompt: { pattern: /^.{0,4000}$/s, why: "prompt es demasiado largo." },
  temperature: { pattern: /^(?:0(?:\.\d{1,4})?|1(?:\.0{1,4})?)$/, why: "temperature va de 0 a 1." },
};

/** Reads the options of a transcription; refuses fields without effect by their names. */
function wishesIn(fields: FormData): HearingWishes {
  const found: Record<string, string> = {};
  for (const [name, value] of fields) {
    if (name === "model" || name === "file" || typeof value !== "string") continue;
    if (name === "response_format") {
      if (value !== "json" && value !== "text") throw invalid(name, "response_format tiene que ser json o text.");
      continue;
    }
    const wish = Object.hasOwn(wishes, name) ? wishes[name] : undefined;
    if (!wish) throw invalid(name, `Aquí no hay «${name.slice(0, 60)}». Quítalo de la petición.`);
    if (!wish.pattern.test(value)) throw invalid(name, wish.why);
    if (value !== "") found[name] = value;
  }
  return found;
}

const speechRoute = createRoute({
  method: "post",
  path: "/audio/speech",
  security: bearer,
  middleware: [forOpenAi, signedIn, active],
  request: {
    body: takes(
      everyFieldOf(
        {
          model: z.string().max(200).optional().openapi({ description: "Se usa siempre el modelo de voz de la casa." }),
          input: text.pipe(
            z.string().regex(/\S/, "Falta el texto.").max(spokenAtMost, `Son más de ${spokenAtMost} caracteres.`),
          ),
          voice: z.string("Tiene que ser un texto.").max(100, "Es demasiado largo.").optional(),
          response_format: z.enum(soundFormats, `Tiene que ser ${soundFormats.join(", ")}.`).nullish(),
          speed: between(0.25, 4).nullish(),
        },
        { withoutEffect: [] },
      ).openapi("OpenAiSpeechRequest", { example: { model: "tts-1", input: "Hola", voice: "alloy" } }),
    ),
  },
  responses: {
    200: {
      content: { "audio/mpeg": { schema: bytes } },
      description: "El texto, leído en voz alta. Si el servidor de voz no da ese formato, en el que dé.",
    },
  },
});
const makeSpeech: RouteHandler<typeof speechRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const { input, voice, response_format, speed } = c.req.valid("json");
  const model = await voiceModel(services.db, "speech");
  if (!model) throw noModel("que lea en voz alta");
  await countAttempt(c, "speech", person.id);
  if (!speaking.enter(person.id)) throw new Problem(429, "Ya se te están leyendo otros textos. Espera a que acaben.");
  try {
    const asked = { ...model, voice: voice ?? model.voice };
    const wishes = { format: response_format ?? "mp3", speed: speed ?? undefined };
    const { bytes, mediaType } = await speak(services, asked, input, c.req.raw.signal, wishes).catch(asProblem);
    return c.body(new Uint8Array(bytes), 200, { "Content-Type": mediaType, "Cache-Control": "no-store" });
  } finally {
    speaking.leave(person.id);
  }
};

/** OpenAI's calls for voice, with the house's own voice models. Nothing is kept. */
export const audioForPrograms = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(
    // The body is parsed as a stream; the schema is only for the API document.
    createRoute({
      ...transcriptionRoute,
      middleware: [forOpenAi, signedIn, active, takesBodyOf(limits.uploadBody)],
      hide: true,
    }),
    async (c) => {
      const { text, fields } = await heard(c, "file", wishesIn);
      return fields.get("response_format") === "text" ? c.text(text, 200) : c.json({ text }, 200);
    },
  )
  .openapi(speechRoute, makeSpeech);

audioForPrograms.openAPIRegistry.registerPath({
  ...transcriptionRoute,
  request: { body: { content: { "multipart/form-data": { schema: form } }, required: true } },
});
