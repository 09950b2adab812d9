import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { findNewModels } from "../../replies/providers/discover.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { admin, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, invalid, notFound } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, bearer, idParam } from "../http/schemas.server.ts";
import { askOnce, trial } from "./ask-once.server.ts";

const forAdmins = { security: bearer, middleware: [signedIn, admin, publishes("model")] };
const prompt = { system: "", turns: [{ role: "user" as const, content: "Preséntate en una frase." }] };
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
      return c.json(await askOnce(services, row, { prompt, maxOutputTokens: 300, signal: c.req.raw.signal }), 200);
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
