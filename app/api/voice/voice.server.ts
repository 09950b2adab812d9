import { readFile } from "node:fs/promises";
import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { recordingTypeOf } from "../../files/media-type.server.ts";
import { FileRefused } from "../../files/refused.server.ts";
import type { Multipart } from "../../http/multipart.server.ts";
import { limits } from "../../process/limits.ts";
import { cutText } from "../../process/text/cut-text.ts";
import { ConcurrencyLimit } from "../../process/work/concurrency-limit.server.ts";
import { ReplyError } from "../../replies/errors.server.ts";
import { type HearingWishes, transcribe, voiceModel } from "../../voice/voice.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { multipartBody } from "../files/multipart-body.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { takesBodyOf } from "../http/bodies.server.ts";
import { answerInvalid, invalid, Problem } from "../http/problem.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, bearer } from "../http/schemas.server.ts";

const transcription = z.object({ text: z.string() }).openapi("Transcription");
const form = z.object({ audio: z.any().openapi({ type: "string", format: "binary" }) });

// Limit per person in this process: each recording is held in memory during its transcription.
const hearing = new ConcurrencyLimit(2);

const route = {
  method: "post" as const,
  path: "/transcriptions" as const,
  security: bearer,
  responses: { 200: answers(transcription, "Lo que se dice en la grabación.") },
};

/** The text of a recording. The recording is not kept. */
export const voices = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(
  // The body is parsed as a stream; the schema is only for the API document.
  createRoute({
    ...route,
    middleware: [signedIn, active, takesBodyOf(limits.uploadBody)],
    hide: true,
  }),
  async (c) => {
    const { text } = await heard(c, "audio");
    if (!text) throw invalid("audio", "En la grabación no se oye ninguna palabra.");
    return c.json({ text: cutText(text, limits.draft) }, 200);
  },
);

/**
 * Words in the recording of a form's field, empty if there are none, and the form's other fields; `wishesIn` reads how it is to be heard from
 * those, or refuses them, before a model is asked. Throws Problem.
 */
export async function heard(
  c: Context<ApiEnv>,
  field: string,
  wishesIn: (fields: Multipart["fields"]) => HearingWishes = () => ({}),
): Promise<{ text: string; fields: Multipart["fields"] }> {
  const { person, services } = c.var;
  const model = await voiceModel(services.db, "transcription");
  if (!model) throw noModel("que pase voz a texto");
  await countAttempt(c, "transcription", person.id);
  if (!hearing.enter(person.id))
    throw new Problem(429, "Ya se está escribiendo otra grabación tuya. Espera a que acabe.");
  const body = await multipartBody(c, limits.archive).catch((error) => {
    hearing.leave(person.id);
    throw error;
  });
  try {
    const wishes = wishesIn(body.fields);
    const sent = body.files.find((file) => file.field === field);
    if (!sent || sent.size === 0) throw invalid(field, "Elige una grabación, o graba algo.");
    if (sent.size > limits.recording) throw tooLong(field);
    const mediaType = await recordingTypeOf(sent.path).catch((error) => {
      throw error instanceof FileRefused ? invalid(field, `La grabación ${error.message}`) : error;
    });
    const recording = { bytes: await readFile(sent.path), mediaType, wishes };
    const text = await transcribe(services, model, recording, c.req.raw.signal).catch(asProblem);
    return { text, fields: body.fields };
  } finally {
    hearing.leave(person.id);
    await body.discard();
  }
}

voices.openAPIRegistry.registerPath({
  ...route,
  request: { body: { content: { "multipart/form-data": { schema: form } }, required: true } },
});

export const noModel = (does: string) =>
  new Problem(404, `Aquí no hay ningún modelo ${does}. Lo pone quien administra, en «Modelos de voz».`);

const tooLong = (field: string) => {
  const sentence = "La grabación pesa más de 25 MB, que es lo que se admite. Grábala en partes.";
  return new Problem(413, sentence, { errors: { [field]: sentence } });
};

/** Turns a voice server's error into an error of the API. */
export function asProblem(error: unknown): never {
  throw error instanceof ReplyError ? new Problem(error.status, error.message) : error;
}
