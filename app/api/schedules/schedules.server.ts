import { OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { sql } from "kysely";
import { v7 as newId } from "uuid";
import type { ScheduleRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import { knownZone } from "../../process/time-zones.server.ts";
import { findAssistant } from "../assistants/assistants.server.ts";
import { textBesideFiles, unwritten } from "../chats/conversation-text.server.ts";
import type { ApiEnv, Person, Services } from "../env.server.ts";
import { active, signedIn } from "../http/authentication.server.ts";
import { listPage } from "../http/list.server.ts";
import { ifUnchanged, refuseStale, stale } from "../http/optimistic-lock.server.ts";
import { answerInvalid, invalid, notFound } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { changeRoute, creationRoute, deletionRoute, itemRoute, listRoute } from "../http/resource-routes.server.ts";
import { bearer, flag, id, iso, isoOrNull, rowFields, timesOf } from "../http/schemas.server.ts";
import { modelToUse } from "../models/models.server.ts";
import { lastDay, nextTime } from "./next-time.server.ts";

const noDay = "Elige algún día de la semana, o un día del mes.";
const fields = {
  content: textBesideFiles.refine((content) => content !== "", unwritten),
  modelId: id.nullable().default(null),
  assistantId: id.nullable().default(null),
  days: z
    .array(z.number().int().min(1).max(7), "Los días tienen que ser una lista.")
    .transform((days) => [...new Set(days)].sort())
    .default([])
    .openapi({ description: "De la semana; el 1 es el lunes.", example: [1] }),
  monthDay: z
    .number("El día del mes tiene que ser un número.")
    .int("El día del mes tiene que ser un número entero.")
    .refine((day) => (day >= 1 && day <= 28) || day === lastDay, "El día del mes va del 1 al 28, o es el último.")
    .nullable()
    .default(null)
    .openapi({ description: `En vez de días de la semana; ${lastDay}: el último.`, example: null }),
  time: z
    .string("La hora tiene que ser un texto.")
    .regex(/^([01]\d|2[0-3]):[0-5]\d$/, "La hora va de 00:00 a 23:59.")
    .openapi({ example: "08:00" }),
  zone: z
    .string("La zona horaria tiene que ser un texto.")
    .max(60, "Esa zona horaria no existe.")
    .refine((zone) => zone === "UTC" || knownZone(zone) !== "UTC", "Esa zona horaria no existe.")
    .openapi({ example: "Europe/Madrid" }),
  tells: flag
    .default(false)
    .openapi({ description: "Si avisa cuando la respuesta está, por correo y en los dispositivos." }),
  enabled: flag.default(true),
};
const newSchedule = z
  .strictObject(fields)
  .refine(({ days, monthDay }) => days.length > 0 || monthDay !== null, { path: ["days"], message: noDay })
  .refine(({ days, monthDay }) => days.length === 0 || monthDay === null, {
    path: ["monthDay"],
    message: "Elige días de la semana o un día del mes, no las dos cosas.",
  });
const schedule = z
  .object({
    ...rowFields,
    ...fields,
    content: z.string(),
    days: z.array(z.number()),
    monthDay: z.number().nullable(),
    nextAt: z.string(),
    askedAt: z.string().nullable(),
    chatId: z.string().nullable().openapi({ description: "La conversación en la que se preguntó la última vez." }),
    problem: z.string().nullable().openapi({ description: "Por qué no se pudo preguntar la última vez." }),
  })
  .openapi("Schedule");

export const daysOf = ({ days }: Pick<ScheduleRow, "days">) => JSON.parse(days) as number[];

const show = ({ userId: _, ...row }: ScheduleRow): z.output<typeof schedule> => ({
  ...row,
  ...timesOf(row),
  days: daysOf(row),
  tells: row.tells === 1,
  enabled: row.enabled === 1,
  nextAt: iso(row.nextAt),
  askedAt: isoOrNull(row.askedAt),
});

const common = { security: bearer, middleware: [signedIn, active, publishes("schedule")] };

const listSchedulesRoute = listRoute(common, schedule, "Las preguntas programadas de la persona.");
const listSchedules: RouteHandler<typeof listSchedulesRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const own = services.db.selectFrom("schedules").selectAll("schedules").where("userId", "=", person.id);
  const { rows, ...rest } = await listPage(services.db, own, c.req.valid("query"), {
    table: "schedules",
    sortable: [{ column: "createdAt", direction: "desc" }],
    filters: { enabled: "flag" },
  });
  return c.json({ items: rows.map(show), ...rest }, 200);
};

const createScheduleRoute = creationRoute(common, newSchedule, schedule, "La pregunta programada.");
const createSchedule: RouteHandler<typeof createScheduleRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const now = services.clock.now();
  const columns = await toColumns(services, person, c.req.valid("json"));
  const row: ScheduleRow = {
    id: newId(),
    createdAt: now,
    updatedAt: now,
    userId: person.id,
    askedAt: null,
    chatId: null,
    ...columns,
  };
  await services.db.transaction().execute(async (trx) => {
    const of = trx.selectFrom("schedules").where("userId", "=", person.id);
    const { count } = await of.select(sql<number>`count(*)`.as("count")).executeTakeFirstOrThrow();
    if (Number(count) >= limits.schedules) {
      throw invalid("content", `Puedes tener ${limits.schedules} preguntas programadas; elimina antes alguna.`);
    }
    await trx.insertInto("schedules").values(row).execute();
  });
  return c.json(show(row), 201);
};

const readScheduleRoute = itemRoute(common, schedule, "La pregunta programada.");
const readSchedule: RouteHandler<typeof readScheduleRoute, ApiEnv> = async (c) =>
  c.json(show(await findOwn(c.var.services, c.var.person, c.req.valid("param").id)), 200);

const changeScheduleRoute = changeRoute("put", common, newSchedule, schedule, "La pregunta programada, cambiada.");
const changeSchedule: RouteHandler<typeof changeScheduleRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const before = await findOwn(services, person, c.req.valid("param").id);
  refuseStale(c, before, show(before));
  const columns = await toColumns(services, person, c.req.valid("json"));
  const after = { ...before, ...columns, updatedAt: services.clock.now() };
  const { numUpdatedRows } = await services.db
    .updateTable("schedules")
    .set(after)
    .where("id", "=", before.id)
    .$call(ifUnchanged(c, before))
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw stale(show(await findOwn(services, person, before.id)));
  return c.json(show(after), 200);
};

const deleteScheduleRoute = deletionRoute(common, "La pregunta ya no se hace.");
const deleteSchedule: RouteHandler<typeof deleteScheduleRoute, ApiEnv> = async (c) => {
  const row = await findOwn(c.var.services, c.var.person, c.req.valid("param").id);
  await c.var.services.db.deleteFrom("schedules").where("id", "=", row.id).execute();
  return c.body(null, 204);
};

/** Questions that are asked by themselves at times that their owner chooses (`ask-due.server.ts`); nobody else sees them. */
export const schedules = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(listSchedulesRoute, listSchedules)
  .openapi(createScheduleRoute, createSchedule)
  .openapi(readScheduleRoute, readSchedule)
  .openapi(changeScheduleRoute, changeSchedule)
  .openapi(deleteScheduleRoute, deleteSchedule);

async function findOwn({ db }: Services, person: Person, scheduleId: string): Promise<ScheduleRow> {
  return db
    .selectFrom("schedules")
    .where("id", "=", scheduleId)
    .where("userId", "=", person.id)
    .selectAll()
    .executeTakeFirstOrThrow(notFound);
}

async function toColumns(services: Services, person: Person, given: z.output<typeof newSchedule>) {
  if (given.modelId) await modelToUse(services, person.id, given.modelId);
  if (given.assistantId) await findAssistant(services.db, person, given.assistantId);
  return {
    ...given,
    days: JSON.stringify(given.days),
    tells: given.tells ? (1 as const) : (0 as const),
    enabled: given.enabled ? (1 as const) : (0 as const),
    nextAt: nextTime(given, services.clock.now()),
    problem: null,
  };
}
