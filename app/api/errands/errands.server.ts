import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import type { ErrandRow, ErrandStepRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import { storedJson } from "../../process/text/json.ts";
import type { ApiEnv, Person, Services } from "../env.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, notFound, Problem } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, bearer, id, idParam, line, rowFields, takes, text, timesOf } from "../http/schemas.server.ts";
import { refuseStale, stale } from "../http/stored-rows.server.ts";
import { goOn } from "../jobs/go-on.server.ts";
import { refuseOnHold } from "../retention/holds.server.ts";
import { errandModel, errandPlaces, goOnWithSeries, storeErrand, usualBounds } from "./new-errand.server.ts";
import { planOf, planPart, storedPlan } from "./plan.server.ts";
import { planSteps } from "./plan-steps.server.ts";
import { placeIn, reportOf } from "./report.server.ts";
import { resumeErrand } from "./resume-errand.server.ts";
import { countSteps } from "./work.server.ts";

const looksIn = z
  .array(z.enum(errandPlaces, "Se busca en «web» o en «documents»."), "looksIn tiene que ser una lista.")
  .min(1, "Di dónde se busca.");
const state = z.enum(["planning", "planned", "running", "paused", "stopped", "done"]);

const errand = z
  .object({
    ...rowFields,
    title: z.string(),
    question: z.string(),
    modelId: z.string().nullable(),
    artifactId: z.string().nullable().openapi({ description: "El escrito con el informe, cuando está hecho." }),
    looksIn,
    state: state.openapi({ description: "planned: el plan espera que alguien diga que sí." }),
    problem: z.string().nullable().openapi({ description: "Por qué está en pausa." }),
    plan: z.array(planPart),
    steps: z.number().openapi({ description: "Los que ha dado." }),
    stepsInAll: z.number().openapi({ description: "Con los que esperan; puede crecer." }),
    stepsAtMost: z.number(),
    minutes: z.number().openapi({ description: "Los que ha trabajado." }),
    minutesAtMost: z.number(),
    cost: z.number().openapi({ description: "En la moneda de los precios de los modelos." }),
    budget: z.number().nullable(),
    notifies: z.boolean().openapi({ description: "Avisa por correo cuando acaba." }),
  })
  .openapi("Errand");
const step = z
  .object({
    part: z.number().openapi({ description: "De qué parte del plan es; tras la última, del conjunto." }),
    kind: z.enum(["search", "read", "more", "write", "join"]),
    title: z.string().openapi({ description: "Lo que se busca, se lee o se escribe." }),
    url: z.string().nullable(),
    fileId: z.string().nullable(),
    state: z.enum(["waiting", "done", "failed", "skipped"]),
    text: z.string().openapi({ description: "Lo encontrado, las notas o lo escrito." }),
    problem: z.string().nullable(),
    source: z.number().nullable().openapi({ description: "El número con el que se cita." }),
  })
  .openapi("ErrandStep");
const wholeErrand = errand
  .extend({ stepsTaken: z.array(step), report: z.string().openapi({ description: "Lo escrito hasta ahora." }) })
  .openapi("WholeErrand");

const priced = "Lo que puede costar es un número mayor que cero.";
const most = {
  budget: z.number(priced).positive(priced).nullable(),
  stepsAtMost: whole("Los pasos", limits.errandSteps),
  minutesAtMost: whole("Los minutos", limits.errandMinutes),
};
function whole(name: string, atMost: number) {
  const said = `${name} son un número entre 1 y ${atMost}.`;
  return z.number(said).int(said).min(1, said).max(atMost, said);
}

const newErrand = z.strictObject({
  question: text("La pregunta", limits.message).refine((value) => value.trim() !== "", "Escribe la pregunta."),
  modelId: id.optional(),
  looksIn: looksIn.default(["web", "documents"]),
  budget: most.budget.default(usualBounds.budget),
  stepsAtMost: most.stepsAtMost.default(usualBounds.stepsAtMost),
  minutesAtMost: most.minutesAtMost.default(usualBounds.minutesAtMost),
  notifies: z.boolean().default(false),
});
const errandChange = z.strictObject({
  title: line("El título", limits.chatTitle, 1).optional(),
  plan: planOf.optional(),
  modelId: id.optional(),
  looksIn: looksIn.optional(),
  budget: most.budget.optional(),
  stepsAtMost: most.stepsAtMost.optional(),
  minutesAtMost: most.minutesAtMost.optional(),
  notifies: z.boolean().optional(),
});

const common = { security: bearer, middleware: [signedIn, active, publishes("errand")] };
const shownErrand = (description: string) => ({ 200: answers(errand, description) });

const createErrandRoute = createRoute({
  method: "post",
  path: "/",
  ...common,
  request: { body: takes(newErrand) },
  responses: { 201: answers(errand, "El encargo; su plan se hace en segundo plano, y espera.") },
});
const createErrand: RouteHandler<typeof createErrandRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  await countAttempt(c, "import", person.id);
  const row = await storeErrand(services, person, { modelId: undefined, ...c.req.valid("json") });
  return c.json(await shown(services, row), 201);
};

const listErrandsRoute = createRoute({
  method: "get",
  path: "/",
  ...common,
  responses: { 200: answers(z.object({ items: z.array(errand) }), "Los de la persona, los últimos primero.") },
});
const listErrands: RouteHandler<typeof listErrandsRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const own = services.db.selectFrom("errands").where("userId", "=", person.id).orderBy("id", "desc");
  const rows = await own.limit(limits.listMax).selectAll().execute();
  return c.json({ items: await Promise.all(rows.map((row) => shown(services, row))) }, 200);
};

const readErrandRoute = createRoute({
  method: "get",
  path: "/{id}",
  ...common,
  request: { params: idParam },
  responses: { 200: answers(wholeErrand, "El encargo, con lo que ha hecho y encontrado.") },
});
const readErrand: RouteHandler<typeof readErrandRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const row = await findOwn(services, person, c.req.valid("param").id);
  const steps = await services.db
    .selectFrom("errandSteps")
    .where("errandId", "=", row.id)
    .orderBy("part")
    .orderBy("stage")
    .orderBy("position")
    .selectAll()
    .execute();
  const report = await reportOf(services, row);
  return c.json({ ...(await shown(services, row)), stepsTaken: steps.map(showStep), report }, 200);
};

const changeErrandRoute = createRoute({
  method: "patch",
  path: "/{id}",
  ...common,
  request: { params: idParam, body: takes(errandChange) },
  responses: shownErrand("El encargo, cambiado; mientras trabaja, no se cambia."),
});
const changeErrand: RouteHandler<typeof changeErrandRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const before = await findOwn(services, person, c.req.valid("param").id);
  const { plan, modelId, looksIn: places, notifies, ...given } = c.req.valid("json");
  const now = await shown(services, before);
  refuseStale(c, before, now);
  if (isAtWork(before)) throw new Problem(409, "Está trabajando: páralo para cambiarlo.");
  // Changing a plan that has begun deletes the steps that it drops, with their results.
  const isOther = plan !== undefined && JSON.stringify(plan) !== before.plan && before.state !== "planned";
  if (isOther) await refuseOnHold(services.db, person, person.id);
  const columns = {
    ...given,
    ...(modelId !== undefined && { modelId: await errandModel(services, person, modelId) }),
    ...(places !== undefined && { looksIn: JSON.stringify([...new Set(places)]) }),
    ...(notifies !== undefined && { notifies: notifies ? (1 as const) : (0 as const) }),
    ...(plan !== undefined && { plan: JSON.stringify(plan) }),
  };
  await services.db.transaction().execute(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable("errands")
      .set({ ...columns, updatedAt: Math.max(Date.now(), before.updatedAt + 1) })
      .where("id", "=", before.id)
      .where("updatedAt", "=", before.updatedAt)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw stale(now);
    // The steps of an errand that has not begun are made when the errand begins.
    if (isOther) await planSteps(trx, before, storedPlan(before), plan);
  });
  return c.json(await shown(services, await findOwn(services, person, before.id)), 200);
};

const resuming = z.strictObject({
  finish: z.boolean().default(false).openapi({ description: "Sin buscar ni leer más: escribir con lo que hay." }),
});
const startErrandRoute = createRoute({
  method: "post",
  path: "/{id}/start",
  ...common,
  request: { params: idParam, body: takes(resuming) },
  responses: shownErrand("Se pone a trabajar según el plan, o sigue donde estaba."),
});
const startErrand: RouteHandler<typeof startErrandRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const row = await findOwn(services, person, c.req.valid("param").id);
  const { finish } = c.req.valid("json");
  if (isAtWork(row)) throw new Problem(409, "Ya está trabajando.");
  await resumeErrand(services, row, { finish });
  return c.json(await shown(services, await findOwn(services, person, row.id)), 200);
};

const stopErrandRoute = createRoute({
  method: "post",
  path: "/{id}/stop",
  ...common,
  request: { params: idParam },
  responses: shownErrand("Parado, después del paso que está dando."),
});
const stopErrand: RouteHandler<typeof stopErrandRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const row = await findOwn(services, person, c.req.valid("param").id);
  await services.db
    .updateTable("errands")
    .set({ state: "stopped", problem: null, updatedAt: Date.now() })
    .where("id", "=", row.id)
    .where("state", "in", ["planning", "running", "paused"])
    .execute();
  await goOnWithSeries(services, row);
  return c.json(await shown(services, await findOwn(services, person, row.id)), 200);
};

const deleteErrandRoute = createRoute({
  method: "delete",
  path: "/{id}",
  ...common,
  request: { params: idParam },
  responses: { 204: { description: "Ya no está, ni lo que encontró. El escrito con el informe se queda." } },
});
const deleteErrand: RouteHandler<typeof deleteErrandRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const row = await findOwn(services, person, c.req.valid("param").id);
  await refuseOnHold(services.db, person, person.id);
  await services.db
    .updateTable("batchQuestions")
    .set({ state: "failed", problem: "Se ha eliminado su encargo.", cost: Number(row.spent), updatedAt: Date.now() })
    .where("errandId", "=", row.id)
    .where("state", "=", "waiting")
    .execute();
  const series = await services.db
    .selectFrom("batchQuestions")
    .innerJoin("batches", "batches.id", "batchQuestions.batchId")
    .where("batchQuestions.errandId", "=", row.id)
    .where("batches.state", "=", "running")
    .select(["batches.id", "batches.userId"])
    .executeTakeFirst();
  await services.db.deleteFrom("errands").where("id", "=", row.id).execute();
  if (series) await goOn(services, "batch", series);
  return c.body(null, 204);
};

/** Questions that take long: planned, looked into step by step in the background, and answered with an artifact. They are their person's. */
export const errands = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(createErrandRoute, createErrand)
  .openapi(listErrandsRoute, listErrands)
  .openapi(readErrandRoute, readErrand)
  .openapi(changeErrandRoute, changeErrand)
  .openapi(startErrandRoute, startErrand)
  .openapi(stopErrandRoute, stopErrand)
  .openapi(deleteErrandRoute, deleteErrand);

const isAtWork = ({ state: now }: ErrandRow) => now === "planning" || now === "running";

/** Throws 404. */
const findOwn = ({ db }: Services, { id: userId }: Person, errandId: string): Promise<ErrandRow> =>
  db
    .selectFrom("errands")
    .where("id", "=", errandId)
    .where("userId", "=", userId)
    .selectAll()
    .executeTakeFirstOrThrow(notFound);

async function shown(services: Services, row: ErrandRow): Promise<z.output<typeof errand>> {
  const { done, all } = await countSteps(services, row);
  const { id: errandId, title, question, modelId, artifactId, state: now, problem, budget } = row;
  return {
    ...{ id: errandId, ...timesOf(row), title, question, modelId, artifactId, state: now, problem, budget },
    cost: Number(row.spent),
    ...{ plan: storedPlan(row), looksIn: storedJson<z.output<typeof looksIn>>(row.looksIn) },
    ...{ steps: done, stepsInAll: all, stepsAtMost: Number(row.stepsAtMost) },
    ...{ minutes: Math.floor(Number(row.workedMs) / 60_000), minutesAtMost: Number(row.minutesAtMost) },
    notifies: Number(row.notifies) === 1,
  };
}

function showStep(row: ErrandStepRow): z.output<typeof step> {
  const place = row.kind === "read" ? placeIn(row) : undefined;
  return {
    ...{ part: Number(row.part), kind: row.kind, title: place?.title ?? row.input, state: row.state },
    ...{ url: place?.url ?? null, fileId: place?.fileId ?? null, text: row.text ?? "", problem: row.problem },
    source: row.source === null ? null : Number(row.source),
  };
}
