import { z } from "@hono/zod-openapi";
import { sql } from "kysely";
import { auditKept } from "../../retention/due.server.ts";
import { isAdmin } from "../http/authentication.server.ts";
import { invalid } from "../http/problem.server.ts";
import { everything, type Resource } from "../http/resource.server.ts";
import { flagsOf, id, iso, rowFields, timesOf } from "../http/schemas.server.ts";

const day = 24 * 60 * 60_000;
const monthLong = 31;
const kinds = ["chats", "files", "audit", "usage"] as const;

const fields = {
  kind: z.enum(kinds, "Elige qué se conserva."),
  days: z
    .number("Los días tienen que ser un número.")
    .int("Los días tienen que ser un número entero.")
    .min(1, "Tiene que ser un día o más.")
    .max(36_500, "Son demasiados días: sin regla se conserva para siempre."),
  groupId: id
    .nullable()
    .default(null)
    .openapi({ description: "Solo lo de la gente de este grupo; null: lo de todos." }),
  keepsPinned: z.boolean().default(true).openapi({ description: "Si las conversaciones fijadas se quedan." }),
};
const body = z.strictObject(fields);
const shown = z
  .object({
    ...rowFields,
    ...fields,
    startsAt: z.string().openapi({ description: "Desde cuándo borra: un día después de guardarla." }),
  })
  .openapi("Retention");

/**
 * How long things are kept. Each rule deletes what it covers, whatever other rules say: the strictest rule wins. A rule begins a day
 * after it was saved, so that there is time to look at what it would delete. Each person may read the rules that apply to them.
 */
export const retentions: Resource<"retentions", typeof shown, typeof body> = {
  table: "retentions",
  name: "retention",
  shown,
  body,
  show: (row) => ({ ...row, ...timesOf(row), ...flagsOf(row, "keepsPinned"), startsAt: iso(row.startsAt) }),
  async columns(given, { services: { db }, id: ruleId, now }) {
    const { kind, days, groupId } = given;
    if (kind === "usage" && days < monthLong) {
      throw invalid("days", `El uso del mes cuenta para los límites: se conserva ${monthLong} días o más.`);
    }
    if (groupId !== null) {
      if (kind === "audit")
        throw invalid("groupId", "La auditoría es de toda la instalación: aquí no va ningún grupo.");
      const group = await db.selectFrom("groups").where("id", "=", groupId).select("id").executeTakeFirst();
      if (!group) throw invalid("groupId", "Ese grupo no existe.");
    }
    if (kind === "audit" && days < auditKept) {
      throw invalid(
        "days",
        `Lo que se lee sin avisar se ve a los 30 días: la auditoría se conserva ${auditKept} días o más.`,
      );
    }
    const same = await db
      .selectFrom("retentions")
      .where("kind", "=", kind)
      .where("groupId", groupId === null ? "is" : "=", groupId)
      .where("id", "!=", ruleId)
      .select("id")
      .executeTakeFirst();
    if (same) throw invalid("kind", "Ya hay una regla para eso y para esas personas.");
    return { ...given, startsAt: now + day };
  },
  sees: (person) =>
    isAdmin(person)
      ? everything
      : sql<boolean>`("groupId" is null or exists (
          select 1 from members where members."groupId" = retentions."groupId" and members."userId" = ${person.id}))`,
  list: {
    searched: [],
    sortable: [
      { number: "createdAt", direction: "desc" },
      { text: "kind", direction: "asc" },
      { number: "days", direction: "desc" },
      { number: "keepsPinned", direction: "desc" },
      { number: "startsAt", direction: "desc" },
    ],
    filters: { kind: "text", groupId: "text" },
  },
};
