import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { findNewModels } from "../../replies/providers/discover.server.ts";
import { openModel } from "../../replies/providers/model-access.server.ts";
import { askAbout } from "../../replies/providers/model-lists.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { admin, noProgram, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, invalid, notFound } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, bearer, idParam } from "../http/schemas.server.ts";
import { askOnce, trial } from "./ask-once.server.ts";

const forAdmins = { security: bearer, middleware: [signedIn, noProgram, admin, publishes("model")] };
const prompt = { system: "", turns: [{ role: "user" as const, content: "Preséntate en una frase." }] };
// Offered with the question: a server that takes no tools refuses it at once.
const trialTool = {
  type: "function" as const,
  name: "hora",
  description: "La hora que es.",
  inputSchema: { type: "object" as const, properties: {} },
};
const modelTrial = trial
  .extend({
    seesImages: z
      .boolean()
      .nullable()
      .openapi({ description: "Si ve imágenes, por lo que dice su servidor; null: no lo dice." }),
    contextWindow: z.number().nullable().openapi({ description: "Su ventana en tokens, si su servidor la dice." }),
  })
  .openapi("ModelTrialResult");

const found = z.object({ found: z.number(), silent: z.array(z.string()) });

/** «Probar» and «Buscar modelos». */
export const modelTrials = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(
    createRoute({
      method: "post",
      path: "/{id}/test",
      ...forAdmins,
      request: { params: idParam },
      responses: { 200: answers(modelTrial, "Cómo contesta el modelo, y qué dice su servidor de él.") },
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
      const asked = { prompt, maxOutputTokens: 300, signal: c.req.raw.signal, tools: [trialTool] };
      const tried = await askOnce(services, row, asked);
      const listed = tried.ok ? await askAbout(openModel(row, services.modelKey)) : undefined;
      const { sees = null, window = null } = listed?.told ?? {};
      return c.json({ ...tried, seesImages: sees, contextWindow: window }, 200);
    },
  )
  .openapi(
    createRoute({
      method: "post",
      path: "/discover",
      ...forAdmins,
      responses: { 200: answers(found, "Cuántos modelos hay de más, y qué servidores no contestan.") },
    }),
    async (c) => {
      const { services } = c.var;
      await countAttempt(c, "trial", c.var.person.id);
      return c.json(await findNewModels(services, services.config), 200);
    },
  );
