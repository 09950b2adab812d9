import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { expressionBuilder } from "kysely";
import type { JobRow, Tables } from "../../db/tables.ts";
import { storedJson } from "../../process/text/json.ts";
import type { ApiEnv } from "../env.server.ts";
import { admin, isAdmin, noProgram, signedIn } from "../http/authentication.server.ts";
import { answerInvalid } from "../http/problem.server.ts";
import { everything, type ReadResource } from "../http/resource.server.ts";
import { answers, bearer, rowFields, timesOf } from "../http/schemas.server.ts";

const e = expressionBuilder<Tables, "jobs">();

export const job = z
  .object({
    ...rowFields,
    kind: z.enum([
      "email",
      "file",
      "picture",
      "import",
      "export",
      "upkeep",
      "words",
      "meanings",
      "reply-notice",
      "reply-push",
      "schedules",
      "queued",
      "backup",
      "events",
      "folder",
      "webhook",
      "models",
      "batch",
      "artifact",
      "errand",
      "mail",
      "mail-answer",
    ]),
    state: z.enum(["waiting", "running", "done", "failed"]),
    userId: z.string().nullable(),
    subjectId: z.string().nullable().openapi({ description: "De qué es: un archivo, un mensaje del buzón." }),
    attempts: z.number(),
    done: z.number().nullable().openapi({ description: "Cuánto lleva, de `total`; null si no se sabe." }),
    total: z.number().nullable(),
    problem: z.string().nullable().openapi({ description: "Por qué ha fallado, o se intenta otra vez." }),
    result: z.unknown().openapi({ description: "Qué ha salido; según su clase." }),
  })
  .openapi("Job");

export const showJob = ({
  data: _data,
  key: _key,
  dueAt: _due,
  goodUntil: _until,
  processId: _process,
  ...row
}: JobRow) => ({
  ...row,
  ...timesOf(row),
  result: row.result === null ? null : storedJson<unknown>(row.result),
});

/** Jobs in the background: people see their own, administrators all. They are kept for a day. */
export const jobs: ReadResource<"jobs", typeof job> = {
  table: "jobs",
  shown: job,
  show: showJob,
  sees: (person) => (isAdmin(person) ? everything : e("jobs.userId", "=", person.id)),
  list: {
    searched: ["problem"],
    sortable: [{ number: "createdAt", direction: "desc" }],
    filters: { kind: "text", state: "text", userId: "text", subjectId: "text" },
  },
};

const again = z.object({ again: z.number().openapi({ description: "Cuántos se intentan otra vez." }) });

/** Tries once more what has failed. */
export const failedJobs = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(
  createRoute({
    method: "post",
    path: "/again",
    security: bearer,
    middleware: [signedIn, noProgram, admin],
    responses: { 200: answers(again, "Los trabajos que habían fallado se intentan otra vez.") },
  }),
  async (c) => {
    const { db, jobs: all } = c.var.services;
    const failed = await db.selectFrom("jobs").where("state", "=", "failed").select(["id", "kind"]).execute();
    for (const one of failed) await all.again(one);
    return c.json({ again: failed.length }, 200);
  },
);
