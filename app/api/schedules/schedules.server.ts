import { z } from "@hono/zod-openapi";
import { expressionBuilder, sql } from "kysely";
import type { ScheduleRow, Tables } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import { storedJson, textsIn } from "../../process/text/json.ts";
import { knownZone } from "../../process/time-zones.server.ts";
import { findAssistant } from "../assistants/assistants.server.ts";
import { textBesideFiles, unwritten } from "../chats/conversation-text.server.ts";
import { type ErrandPlace, errandModel, errandPlaces } from "../errands/new-errand.server.ts";
import { invalid } from "../http/problem.server.ts";
import type { Resource } from "../http/resource.server.ts";
import { flag, flagsOf, id, iso, isoOrNull, rowFields, timesOf } from "../http/schemas.server.ts";
import { modelToUse } from "../models/models.server.ts";
import { lastDay, nextTime } from "./next-time.server.ts";

const e = expressionBuilder<Tables, "schedules">();

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
  looksIn: z
    .array(z.enum(errandPlaces, "Se busca en «web» o en «documents»."), "looksIn tiene que ser una lista.")
    .min(1, "Di dónde se busca.")
    .transform((places) => [...new Set(places)])
    .nullable()
    .default(null)
    .openapi({ description: "De un encargo, dónde busca; null: es una pregunta en una conversación nueva." }),
};
const newSchedule = z
  .strictObject(fields)
  .refine(({ days, monthDay }) => days.length > 0 || monthDay !== null, { path: ["days"], message: noDay })
  .refine(({ days, monthDay }) => days.length === 0 || monthDay === null, {
    path: ["monthDay"],
    message: "Elige días de la semana o un día del mes, no las dos cosas.",
  })
  .refine(({ looksIn, assistantId }) => !looksIn || !assistantId, { path: ["assistantId"], error: () => noAssistant });
const noAssistant = "Un encargo lo hace un modelo, no un asistente.";
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
    errandId: z.string().nullable().openapi({ description: "El encargo de la última vez." }),
    problem: z.string().nullable().openapi({ description: "Por qué no se pudo preguntar la última vez." }),
  })
  .openapi("Schedule");

export const daysOf = ({ days }: Pick<ScheduleRow, "days">) => storedJson<number[]>(days);

/** Places that an errand of a schedule looks in; null where it is a question. */
export const placesOf = ({ looksIn }: Pick<ScheduleRow, "looksIn">) =>
  looksIn === null ? null : textsIn<ErrandPlace>(looksIn);

/** Questions that are asked by themselves at times that their owner chooses (`ask-due.server.ts`); nobody else sees them. */
export const schedules: Resource<"schedules", typeof schedule, typeof newSchedule> = {
  table: "schedules",
  name: "schedule",
  shown: schedule,
  body: newSchedule,
  show: ({ userId: _, ...row }) => ({
    ...row,
    ...timesOf(row),
    ...flagsOf(row, "tells", "enabled"),
    days: daysOf(row),
    looksIn: placesOf(row),
    nextAt: iso(row.nextAt),
    askedAt: isoOrNull(row.askedAt),
  }),
  async columns(given, { services, person, before, now }) {
    if (given.looksIn) await errandModel(services, person, given.modelId ?? undefined);
    else if (given.modelId) await modelToUse(services, person.id, given.modelId);
    if (given.assistantId) await findAssistant(services.db, person, given.assistantId);
    return {
      ...given,
      userId: person.id,
      days: JSON.stringify(given.days),
      looksIn: given.looksIn && JSON.stringify(given.looksIn),
      nextAt: nextTime(given, now),
      problem: null,
      askedAt: before?.askedAt ?? null,
      chatId: before?.chatId ?? null,
      errandId: before?.errandId ?? null,
    };
  },
  async inTransaction(trx, { userId }, before) {
    if (before) return;
    const of = trx.selectFrom("schedules").where("userId", "=", userId);
    const { count } = await of.select(sql<number>`count(*)`.as("count")).executeTakeFirstOrThrow();
    if (Number(count) > limits.schedules) {
      throw invalid("content", `Puedes tener ${limits.schedules} preguntas programadas; elimina antes alguna.`);
    }
  },
  sees: (person) => e("schedules.userId", "=", person.id),
  mayChange: () => true,
  list: {
    searched: ["content"],
    sortable: [{ number: "createdAt", direction: "desc" }],
    filters: { enabled: "flag" },
  },
  says: {
    list: "Las preguntas programadas de la persona.",
    item: "La pregunta programada.",
    created: "La pregunta programada.",
    changed: "La pregunta programada, cambiada.",
    deleted: "La pregunta ya no se hace.",
  },
};
