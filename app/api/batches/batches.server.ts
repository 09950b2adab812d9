import { readFile } from "node:fs/promises";
import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { sql } from "kysely";
import type { BatchRow } from "../../db/tables.ts";
import { pullStream } from "../../http/pull-stream.server.ts";
import { limits } from "../../process/limits.ts";
import { attachmentName } from "../chats/chat-export.server.ts";
import type { ApiEnv, Person, Services } from "../env.server.ts";
import { resumeErrand } from "../errands/resume-errand.server.ts";
import { multipartBody, textFields } from "../files/multipart-body.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { takesBodyOf } from "../http/bodies.server.ts";
import { answerInvalid, invalid, notFound, Problem } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, bearer, bytes, idParam, rowFields, takes, timesOf } from "../http/schemas.server.ts";
import { goOn } from "../jobs/go-on.server.ts";
import { modelToUse } from "../models/models.server.ts";
import { refuseOnHold } from "../retention/holds.server.ts";
import { spent } from "./answer-rows.server.ts";
import { budgetIn, placesIn, storeBatch, tableIn, usableTemplate } from "./new-batch.server.ts";
import { linesOf } from "./result.server.ts";

const batch = z
  .object({
    ...rowFields,
    title: z.string().openapi({ description: "El de su plantilla." }),
    modelId: z.string().nullable(),
    total: z.number().openapi({ description: "Cuántas filas tiene." }),
    answered: z.number(),
    failed: z.number(),
    cost: z.number().openapi({ description: "En la moneda de los precios de los modelos." }),
    budget: z.number().nullable().openapi({ description: "Lo que puede costar; null: lo que dé el plan." }),
    state: z.enum(["running", "paused", "stopped", "done"]),
    problem: z.string().nullable().openapi({ description: "Por qué está en pausa." }),
  })
  .openapi("Batch");

const common = { security: bearer, middleware: [signedIn, active, publishes("batch")] };
const made = { 201: answers(batch, "Las preguntas, que se hacen una tras otra en segundo plano.") };

const create = { method: "post" as const, path: "/" as const, security: bearer, responses: made };
const createBatchRoute = createRoute({
  ...create,
  middleware: [...common.middleware, takesBodyOf(limits.batchFile + limits.formBody)],
  hide: true,
});
const createBatch: RouteHandler<typeof createBatchRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  await countAttempt(c, "import", person.id);
  const body = await multipartBody(c, limits.batchFile + 1);
  try {
    const { templateId, modelId, budget, looksIn: places } = textFields(body);
    const template = await usableTemplate(services, person, templateId?.replaceAll("\0", ""));
    const model = await modelToUse(services, person.id, modelId?.replaceAll("\0", "") || undefined);
    if (model.provider === "local") throw invalid("modelId", "El Asistente local no responde preguntas en serie.");
    const most = budgetIn(budget);
    const [file] = body.files;
    if (!file) throw invalid("files", "Elige el archivo con los datos.");
    if (file.size > limits.batchFile) throw invalid("files", "El archivo pesa más de 2 MB. Pártelo en varios.");
    const { columns, rows } = tableIn(await readFile(file.path), template.content);
    const looksIn = placesIn(places, rows.length);
    const row = await storeBatch(services, person, {
      template,
      modelId: model.id,
      budget: most,
      looksIn,
      columns,
      rows,
    });
    await goOn(services, "batch", row);
    return c.json(await shown(services, row), 201);
  } finally {
    await body.discard();
  }
};

const listBatchesRoute = createRoute({
  method: "get",
  path: "/",
  ...common,
  responses: { 200: answers(z.object({ items: z.array(batch) }), "Las de la persona, las últimas primero.") },
});
const listBatches: RouteHandler<typeof listBatchesRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const own = services.db.selectFrom("batches").where("userId", "=", person.id).orderBy("id", "desc");
  const items: z.output<typeof batch>[] = [];
  for (const row of await own.limit(limits.listMax).selectAll().execute()) items.push(await shown(services, row));
  return c.json({ items }, 200);
};

const readBatchRoute = createRoute({
  method: "get",
  path: "/{id}",
  ...common,
  request: { params: idParam },
  responses: { 200: answers(batch, "Cómo van.") },
});
const readBatch: RouteHandler<typeof readBatchRoute, ApiEnv> = async (c) =>
  c.json(await shown(c.var.services, await findOwn(c.var.services, c.var.person, c.req.valid("param").id)), 200);

const stopBatchRoute = createRoute({
  method: "post",
  path: "/{id}/stop",
  ...common,
  request: { params: idParam },
  responses: { 200: answers(batch, "Paradas, después de la fila que se está respondiendo.") },
});
const stopBatch: RouteHandler<typeof stopBatchRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const row = await findOwn(services, person, c.req.valid("param").id);
  await setState(services, row, ["running", "paused"], "stopped");
  return c.json(await shown(services, await findOwn(services, person, row.id)), 200);
};

const resuming = z.strictObject({
  budget: z
    .string("Lo que puede costar se escribe como un texto.")
    .max(20)
    .default("")
    .openapi({ description: "Lo que puede costar desde ahora, con lo que ya ha costado; vacío: como estaba." }),
});
const resumeBatchRoute = createRoute({
  method: "post",
  path: "/{id}/resume",
  ...common,
  request: { params: idParam, body: takes(resuming) },
  responses: { 200: answers(batch, "Siguen con las filas que faltan, y con las que fallaron.") },
});
const resumeBatch: RouteHandler<typeof resumeBatchRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const row = await findOwn(services, person, c.req.valid("param").id);
  if (row.state === "running") throw new Problem(409, "Ya se están haciendo.");
  const budget = budgetIn(c.req.valid("json").budget) ?? row.budget;
  await countAttempt(c, "import", person.id);
  const again = services.db.updateTable("batchQuestions").set({ state: "waiting", problem: null });
  await again.where("batchId", "=", row.id).where("state", "=", "failed").execute();
  await services.db.updateTable("batches").set({ budget }).where("id", "=", row.id).execute();
  await resumeErrandsOf(services, { ...row, budget });
  await setState(services, row, ["paused", "stopped", "done"], "running");
  await goOn(services, "batch", row);
  return c.json(await shown(services, await findOwn(services, person, row.id)), 200);
};

const readResultRoute = createRoute({
  method: "get",
  path: "/{id}/result",
  ...common,
  request: { params: idParam },
  responses: {
    200: {
      content: { "text/csv": { schema: bytes } },
      description: "La tabla con lo que se ha respondido en cada fila; mientras se hacen, hasta donde van.",
    },
  },
});
const readResult: RouteHandler<typeof readResultRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const row = await findOwn(services, person, c.req.valid("param").id);
  const lines = linesOf(services.db, row);
  const headers = {
    "Content-Type": "text/csv; charset=utf-8",
    "Content-Disposition": attachmentName(`${row.title}.csv`),
    "Cache-Control": "private, no-store",
  };
  return c.body(
    pullStream(lines, () => lines.return(undefined)),
    200,
    headers,
  );
};

const deleteBatchRoute = createRoute({
  method: "delete",
  path: "/{id}",
  ...common,
  request: { params: idParam },
  responses: { 204: { description: "Ya no están, ni sus datos ni sus respuestas." } },
});
const deleteBatch: RouteHandler<typeof deleteBatchRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const row = await findOwn(services, person, c.req.valid("param").id);
  await refuseOnHold(services.db, person, person.id);
  const own = services.db.selectFrom("batchQuestions").where("batchId", "=", row.id).select("errandId");
  await services.db
    .updateTable("errands")
    .set({ state: "stopped", updatedAt: Date.now() })
    .where("id", "in", own)
    .where("state", "in", ["planning", "running"])
    .execute();
  await services.db.deleteFrom("batches").where("id", "=", row.id).execute();
  return c.body(null, 204);
};

/** Questions in series: a template over a table, each row a question; the answers as a table. They are their person's alone. */
export const batches = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(createBatchRoute, createBatch)
  .openapi(listBatchesRoute, listBatches)
  .openapi(readBatchRoute, readBatch)
  .openapi(stopBatchRoute, stopBatch)
  .openapi(resumeBatchRoute, resumeBatch)
  .openapi(readResultRoute, readResult)
  .openapi(deleteBatchRoute, deleteBatch);

const form = z.object({
  templateId: z.string(),
  modelId: z.string().optional().openapi({ description: "Sin él, el que hay por defecto." }),
  budget: z.string().optional().openapi({ description: "Lo que puede costar, como mucho." }),
  looksIn: z
    .enum(["web", "documents", "web,documents"])
    .optional()
    .openapi({ description: "Cada fila es un encargo que busca ahí; sin él, una pregunta." }),
  files: z.any().openapi({ type: "string", format: "binary", description: "Un CSV con los huecos como columnas." }),
});
batches.openAPIRegistry.registerPath({
  ...create,
  request: { body: { content: { "multipart/form-data": { schema: form } }, required: true } },
});

/** Throws 404. */
const findOwn = ({ db }: Services, { id: userId }: Person, id: string): Promise<BatchRow> =>
  db
    .selectFrom("batches")
    .where("id", "=", id)
    .where("userId", "=", userId)
    .selectAll()
    .executeTakeFirstOrThrow(notFound);

/** Resumes the errands of waiting rows before their series goes on: otherwise an errand that rests would pause the series again. */
async function resumeErrandsOf(services: Services, batch: BatchRow): Promise<void> {
  const resting = await services.db
    .selectFrom("errands")
    .innerJoin("batchQuestions", "batchQuestions.errandId", "errands.id")
    .where("batchQuestions.batchId", "=", batch.id)
    .where("batchQuestions.state", "=", "waiting")
    .where("errands.state", "in", ["paused", "stopped"])
    .selectAll("errands")
    .execute();
  // An errand's cost is counted in its row only once the errand ends.
  const begun = resting.reduce((sum, errand) => sum + Number(errand.spent), 0);
  const left = batch.budget === null ? null : Math.max(0, batch.budget - (await spent(services, batch)) - begun);
  for (const errand of resting) {
    await resumeErrand(services, errand, left === null ? {} : { budget: Number(errand.spent) + left });
  }
}

const setState = ({ db }: Services, { id }: BatchRow, from: BatchRow["state"][], state: BatchRow["state"]) =>
  db
    .updateTable("batches")
    .set({ state, problem: null, updatedAt: Date.now() })
    .where("id", "=", id)
    .where("state", "in", from)
    .execute();

async function shown({ db }: Services, row: BatchRow): Promise<z.output<typeof batch>> {
  const counted = await db
    .selectFrom("batchQuestions")
    .where("batchId", "=", row.id)
    .select([
      sql<number>`coalesce(sum(case when state = 'done' then 1 else 0 end), 0)`.as("answered"),
      sql<number>`coalesce(sum(case when state = 'failed' then 1 else 0 end), 0)`.as("failed"),
      sql<number>`coalesce(sum(cost), 0)`.as("cost"),
    ])
    .executeTakeFirstOrThrow();
  const { id, title, modelId, total, budget, state, problem } = row;
  const [answered, failed, cost] = [counted.answered, counted.failed, counted.cost].map(Number);
  return {
    ...{ id, ...timesOf(row), title, modelId, total: Number(total), budget, state, problem },
    ...{ answered: answered ?? 0, failed: failed ?? 0, cost: cost ?? 0 },
  };
}
