import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { v7 as newId } from "uuid";
import { limits } from "../../process/limits.ts";
import type { ApiEnv } from "../env.server.ts";
import { multipartBody } from "../files/multipart-body.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { takesBodyOf } from "../http/bodies.server.ts";
import { answerInvalid, invalid } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, bearer } from "../http/schemas.server.ts";
import { job, showJob } from "../jobs/jobs.server.ts";
import { imported } from "./import-job.server.ts";

// In ms: most imports end within this time, so that the sender learns at once whether the import failed.
const patience = 10_000;

const route = {
  method: "post" as const,
  path: "/import" as const,
  security: bearer,
  responses: {
    201: answers(imported, "Cuántos chats y mensajes hay de más."),
    202: answers(job, "Es larga: se sigue importando. Su trabajo dice cómo va y, al final, lo mismo en `result`."),
  },
};

/**
 * Imports conversations from export files of Tertulia, ChatGPT, Claude, DeepSeek, Open WebUI or LibreChat, with the files that they contain.
 * Chats that were imported before are skipped.
 */
export const imports = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(
  createRoute({
    ...route,
    middleware: [signedIn, active, publishes("chat"), takesBodyOf(limits.uploadBody)],
    hide: true,
  }),
  async (c) => {
    const { person, services } = c.var;
    const { storage, jobs } = services;
    await countAttempt(c, "import", person.id);
    const body = await multipartBody(c, limits.importFile);
    try {
      const [file, ...others] = body.files;
      if (others.length > 0) throw invalid("file", "Se importa un archivo cada vez: para varios, mételos en un ZIP.");
      if (!file) throw invalid("file", "Elige el archivo de la exportación.");
      if (file.size > limits.importFile) {
        const most = limits.importFile / 1024 / 1024;
        throw invalid(
          "file",
          `El archivo pesa más de ${most} MB. Sube en un ZIP solo su conversations.json o, si es de Tertulia, su carpeta «conversaciones».`,
        );
      }
      const id = newId();
      // The job reads the file from the store, maybe on another machine; the file is deleted with the job at the latest.
      await storage.put(id, "original", file.path);
      await jobs.add({ id, kind: "import", userId: person.id });
      jobs.wake("import");
      const ended = await jobs.ended(id, patience);
      if (!ended) throw invalid("file", "La importación se ha quitado.");
      if (ended.state === "failed") throw invalid("file", sentence(ended.problem ?? ""));
      if (ended.state !== "done") return c.json(showJob(ended), 202);
      return c.json(imported.parse(JSON.parse(ended.result ?? "{}")), 201);
    } finally {
      await body.discard();
    }
  },
);

imports.openAPIRegistry.registerPath({
  ...route,
  request: {
    body: {
      content: {
        "multipart/form-data": { schema: z.object({ file: z.any().openapi({ type: "string", format: "binary" }) }) },
      },
      required: true,
    },
  },
});

const sentence = (problem: string) => problem.slice(0, 1).toUpperCase() + problem.slice(1);
