import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { ApiEnv } from "../env.server.ts";
import { admin, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, invalid, notFound } from "../http/problem.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import type { ReadResource } from "../http/resource.server.ts";
import { answers, bearer, flagsOf, id, idParam, rowFields, takes, timesOf } from "../http/schemas.server.ts";
import { askOnce, trial } from "../models/ask-once.server.ts";

const shown = z
  .object({
    ...rowFields,
    messageId: z.string(),
    userId: z.string(),
    modelId: z.string().nullable(),
    assistantId: z.string().nullable(),
    assistant: z.string().openapi({ description: "Cómo se llamaba el asistente; vacío: ninguno." }),
    useful: z.boolean(),
    reason: z.string(),
    question: z.string(),
    reply: z.string(),
  })
  .openapi("Opinion");

/** Opinions of replies, for administrators, who judge a model or an assistant by them, or try another model. */
export const opinions: ReadResource<"opinions", typeof shown> = {
  table: "opinions",
  shown,
  show: (row) => ({ ...row, ...timesOf(row), ...flagsOf(row, "useful") }),
  searchesPeople: true,
  list: {
    searched: ["question", "reply", "reason", "assistant"],
    sortable: [{ number: "createdAt", direction: "desc" }],
    filters: { useful: "flag", modelId: "text", assistantId: "text", userId: "text" },
  },
};

/** «Probar de nuevo»: the question of an opinion, asked of a model as it is now. */
export const opinionTrials = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(
  createRoute({
    method: "post",
    path: "/{id}/try",
    security: bearer,
    middleware: [signedIn, admin],
    request: { params: idParam, body: takes(z.strictObject({ modelId: id })) },
    responses: { 200: answers(trial, "Lo que contesta ese modelo a la misma pregunta, sin lo que iba antes.") },
  }),
  async (c) => {
    const { person, services } = c.var;
    await countAttempt(c, "trial", person.id);
    const { question } = await services.db
      .selectFrom("opinions")
      .where("id", "=", c.req.valid("param").id)
      .select("question")
      .executeTakeFirstOrThrow(notFound);
    const model = await services.db
      .selectFrom("models")
      .where("id", "=", c.req.valid("json").modelId)
      .selectAll()
      .executeTakeFirst();
    if (!model) throw invalid("modelId", "Ese modelo ya no existe. Elige otro.");
    if (model.provider === "local") throw invalid("modelId", "El asistente local no es un modelo. Elige otro.");
    const prompt = { system: model.systemPrompt, turns: [{ role: "user" as const, content: question }] };
    const asked = { prompt, maxOutputTokens: model.maxOutputTokens, signal: c.req.raw.signal };
    return c.json(await askOnce(services, model, asked), 200);
  },
);
