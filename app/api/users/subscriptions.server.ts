import { z } from "@hono/zod-openapi";
import { expressionBuilder } from "kysely";
import type { Tables } from "../../db/tables.ts";
import { isAdmin } from "../http/authentication.server.ts";
import { invalid } from "../http/problem.server.ts";
import { everything, type Resource } from "../http/resource.server.ts";
import { id, iso, isoOrNull, rowFields, timesOf } from "../http/schemas.server.ts";

const e = expressionBuilder<Tables, "subscriptions">();

const moment = (label: string) =>
  z
    .string(`${label} tiene que ser una fecha.`)
    .refine((value) => !Number.isNaN(Date.parse(value)), `${label} tiene que ser una fecha.`);
const limit = (label: string) =>
  z
    .number(`${label} tiene que ser un número.`)
    .int(`${label} tiene que ser un número entero.`)
    .min(0, `${label} no puede ser negativo.`)
    .max(1_000_000_000_000, `${label} es demasiado grande.`)
    .nullable()
    .default(null)
    .openapi({ description: "null: sin límite." });

const fields = {
  userId: id,
  plan: z.enum(["gratis", "pro", "equipo"], "Ese plan no existe."),
  status: z.enum(["active", "past_due", "canceled"], "Ese estado no existe.").default("active"),
  startsAt: moment("El comienzo"),
  endsAt: moment("El final").nullable().default(null),
  messagesPerDay: limit("Los mensajes al día"),
  tokensPerMonth: limit("Los tokens al mes"),
  storageMb: limit("El espacio"),
};
const body = z.strictObject(fields);
const shown = z.object({ ...rowFields, ...fields }).openapi("Subscription");

/** The plan of a person and its limits. */
export const subscriptions: Resource<"subscriptions", typeof shown, typeof body> = {
  table: "subscriptions",
  name: "subscription",
  byPrograms: true,
  shown,
  body,
  show: (row) => ({
    ...row,
    ...timesOf(row),
    startsAt: iso(row.startsAt),
    endsAt: isoOrNull(row.endsAt),
  }),
  async columns({ startsAt: starts, endsAt: ends, ...given }, { services: { db } }) {
    const startsAt = Date.parse(starts);
    const endsAt = ends === null ? null : Date.parse(ends);
    const user = await db.selectFrom("users").where("id", "=", given.userId).select("id").executeTakeFirst();
    if (!user) throw invalid("userId", "Esa persona no existe.");
    if (endsAt !== null && endsAt <= startsAt) throw invalid("endsAt", "El final tiene que ser después del comienzo.");
    return { ...given, startsAt, endsAt };
  },
  list: {
    searched: ["plan"],
    sortable: [{ number: "createdAt", direction: "desc" }],
    filters: { userId: "text", plan: "text", status: "text" },
  },
  searchesPeople: true,
  sees: (person) => (isAdmin(person) ? everything : e("subscriptions.userId", "=", person.id)),
  ownerOf: async ({ userId }) => userId,
};
