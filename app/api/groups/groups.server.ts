import { z } from "@hono/zod-openapi";
import { limits } from "../../process/limits.ts";
import type { Resource } from "../http/resource.server.ts";
import { flag, flagsOf, line, rowFields, text, timesOf } from "../http/schemas.server.ts";

const largest = 1_000_000_000_000;
const limit = (label: string) =>
  z
    .number(`${label} tiene que ser un número.`)
    .int(`${label} tiene que ser un número entero.`)
    .min(0, `${label} no puede ser negativo.`)
    .max(largest, `${label} es demasiado grande.`)
    .nullable()
    .default(null)
    .openapi({ description: "Para cada persona del grupo; null: el grupo no dice nada." });
const money = (label: string) =>
  z
    .number(`${label} tiene que ser un número.`)
    .min(0, `${label} no puede ser negativo.`)
    .max(largest, `${label} es demasiado grande.`)
    .nullable()
    .default(null);

const fields = {
  name: line("El nombre", limits.name, 1),
  description: text("La descripción", limits.groupDescription).default(""),
  claim: line("El nombre en el proveedor", 255)
    .transform((value) => value || null)
    .nullable()
    .default(null)
    .openapi({ description: "Cómo lo llama el proveedor de identidades; null: solo se llena a mano." }),
  messagesPerDay: limit("Los mensajes al día"),
  tokensPerMonth: limit("Los tokens al mes"),
  costPerMonth: money("El coste al mes").openapi({ description: "Lo que puede costar cada persona del grupo al mes." }),
  budget: money("El presupuesto").openapi({ description: "Lo que pueden costar todas juntas al mes." }),
  minors: flag.default(false).openapi({ description: "Si sus personas son menores: sin la web ni hacer imágenes." }),
};
const body = z.strictObject(fields);
const shown = z.object({ ...rowFields, ...fields, claim: z.string().nullable() }).openapi("Group");

/** Groups of people, with their limits. A thing that only some groups may use names these groups in its own settings. */
export const groups: Resource<"groups", typeof shown, typeof body> = {
  table: "groups",
  name: "group",
  shown,
  body,
  show: (row) => ({ ...row, ...timesOf(row), ...flagsOf(row, "minors") }),
  columns: (given) => given,
  list: {
    searched: ["name", "description", "claim"],
    sortable: [
      { text: "name", direction: "asc" },
      { number: "createdAt", direction: "desc" },
      { text: "description", direction: "asc" },
      { text: "claim", direction: "asc", mayBeEmpty: true },
      { number: "messagesPerDay", direction: "desc", mayBeEmpty: true },
      { number: "tokensPerMonth", direction: "desc", mayBeEmpty: true },
      { number: "costPerMonth", direction: "desc", mayBeEmpty: true },
      { number: "budget", direction: "desc", mayBeEmpty: true },
    ],
    filters: { name: "text", claim: "text" },
  },
  unique: { field: "name", sentence: "Ya hay un grupo con ese nombre." },
};
