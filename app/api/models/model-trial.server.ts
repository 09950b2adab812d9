import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { describeCause, ReplyError } from "../../replies/errors.server.ts";
import { findNewModels } from "../../replies/providers/discover.server.ts";
import { openModel } from "../../replies/providers/model-access.server.ts";
import { generate } from "../../replies/providers/providers.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { admin, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, invalid, notFound } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, bearer, idParam } from "../http/schemas.server.ts";

const forAdmins = { security: bearer, middleware: [signedIn, admin, publishes("model")] };
const trial = z
  .object({
    ok: z.boolean(),
    answer: z.string().openapi({ description: "Lo que ha contestado o, si no ha podido, por qué." }),
    firstTokenMs: z.number().nullable(),
    tokensPerSecond: z.number().nullable(),
  })
  .openapi("ModelTrial");

const prompt = { system: "", turns: [{ role: "user" as const, content: "Preséntate en una frase." }] };
const patience = 30_000;

/** Tokens per second with one decimal, or null where so little time has passed since the first that it would say nothing. */
export function tellSpeed(tokens: number, ms: number): number | null {
  return tokens > 0 && ms > 50 ? Math.round((tokens / ms) * 10_000) / 10 : null;
}

/** «Probar» and «Buscar modelos». */
export const modelTrials = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(
    createRoute({
      method: "post",
      path: "/{id}/test",
      ...forAdmins,
      request: { params: idParam },
      responses: { 200: answers(trial, "Cómo contesta el modelo.") },
    }),
    async (c) => {
      const { person, services } = c.var;
      await countAttempt(c, "trial", person.id);
      const row = await services.db
        .selectFrom("models")
        .where("id", "=", c.req.valid("param").id)
        .selectAll()
        .executeTakeFirstOrThrow(notFound);
      if (row.provider === "local") throw invalid("id", "El asistente local no es un modelo: contesta siempre.");
      const begun = Date.now();
      let first: number | null = null;
      // Its thoughts count among its tokens.
      let begunToSay: number | undefined;
      let answer = "";
      let tokens = 0;
      try {
        const model = { ...openModel(row, services.modelKey), maxOutputTokens: 300 };
        for await (const piece of generate(model, prompt, { signal: c.req.raw.signal, silence: patience })) {
          begunToSay ??= Date.now();
          if (piece.type === "text") {
            first ??= Date.now() - begun;
            answer += piece.text;
          } else if (piece.type === "mistaken") answer = "";
          else if (piece.type === "finish") tokens = piece.usage.outputTokens ?? 0;
        }
      } catch (error) {
        if (!(error instanceof ReplyError)) throw error;
        services.log.info({ modelId: row.id, cause: describeCause(error) }, "el modelo probado no contesta");
        return c.json({ ok: false, answer: error.message, firstTokenMs: null, tokensPerSecond: null }, 200);
      }
      const tokensPerSecond = tellSpeed(tokens, Date.now() - (begunToSay ?? begun));
      return c.json({ ok: true, answer, firstTokenMs: first, tokensPerSecond }, 200);
    },
  )
  .openapi(
    createRoute({
      method: "post",
      path: "/discover",
      ...forAdmins,
      responses: { 200: answers(z.object({ found: z.number() }), "Cuántos modelos hay de más.") },
    }),
    async (c) => {
      const { services } = c.var;
      await countAttempt(c, "trial", c.var.person.id);
      return c.json({ found: await findNewModels(services, services.config) }, 200);
    },
  );
