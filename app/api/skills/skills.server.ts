import { z } from "@hono/zod-openapi";
import { expressionBuilder, sql } from "kysely";
import { usableBy } from "../../db/people/groups.server.ts";
import type { Tables } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import { mayChange } from "../assistants/own-or-shared.server.ts";
import type { Person } from "../env.server.ts";
import { checkGroupIds, groupIds, parseGroupIds, shownGroupIds } from "../groups/group-ids.server.ts";
import { isAdmin } from "../http/authentication.server.ts";
import { invalid } from "../http/problem.server.ts";
import type { Resource } from "../http/resource.server.ts";
import { flag, flagsOf, line, rowFields, text, timesOf } from "../http/schemas.server.ts";
import { skillName } from "./skill-format.server.ts";

const e = expressionBuilder<Tables, "skills">();

const body = z.strictObject({
  name: line("El nombre", 200, 1)
    .transform(skillName)
    .refine((name) => name !== "", "El nombre lleva alguna letra o algún número.")
    .openapi({ description: "Queda en minúsculas, sin acentos y con guiones.", example: "redactar-bandos" }),
  description: text("Para qué sirve", limits.skillDescription, 1).openapi({
    description: "Qué hace y cuándo usarlo: es lo que un modelo sabe de él antes de abrirlo.",
  }),
  content: text("Las instrucciones", limits.skillContent, 1),
  shared: flag.default(false),
  groupIds,
});
export const shownSkill = z
  .object({
    ...rowFields,
    userId: z.string(),
    name: z.string(),
    description: z.string(),
    content: z.string(),
    shared: z.boolean().openapi({ description: "Si lo usan todos." }),
    groupIds: shownGroupIds.openapi({ description: "De uno compartido, para qué grupos." }),
    version: z.number(),
    mayChange: z.boolean(),
  })
  .openapi("Skill");

/** Condition: a person's own skills, and those that are shared with them. */
export const seesSkill = ({ id }: Pick<Person, "id">) =>
  e.or([e("skills.userId", "=", id), e.and([e("skills.shared", "=", 1), usableBy("skills", id)])]);

/** Instructions for a kind of work, which models open when they need them: a person's own, and those of the house. */
export const skills: Resource<"skills", typeof shownSkill, typeof body> = {
  table: "skills",
  name: "skill",
  shown: shownSkill,
  body,
  show: (row, { person }) => {
    const changes = mayChange(row, person);
    return {
      ...row,
      ...timesOf(row),
      ...flagsOf(row, "shared"),
      groupIds: changes ? parseGroupIds(row) : null,
      version: Number(row.version),
      mayChange: changes,
    };
  },
  async columns(given, { services, person, before }) {
    await checkGroupIds(services.db, given.groupIds, before && parseGroupIds(before));
    if (given.shared && !isAdmin(person)) throw invalid("shared", "Solo quien administra hace oficios para todos.");
    return { ...given, userId: before?.userId ?? person.id, version: Number(before?.version ?? 0) + 1 };
  },
  unique: { field: "name", sentence: "Ya tienes un oficio con ese nombre." },
  async inTransaction(trx, { userId }, before) {
    if (before) return;
    const own = trx.selectFrom("skills").where("userId", "=", userId);
    const { count } = await own.select(sql<number>`count(*)`.as("count")).executeTakeFirstOrThrow();
    if (Number(count) > limits.skills) throw tooMany();
  },
  sees: seesSkill,
  mayChange,
  list: {
    searched: ["name", "description"],
    sortable: [
      { text: "name", direction: "asc" },
      { number: "updatedAt", direction: "desc" },
    ],
    filters: { shared: "flag", userId: "text" },
  },
  says: {
    list: "Los oficios de la persona y los de todos.",
    item: "El oficio.",
    created: "El oficio nuevo.",
    changed: "El oficio, cambiado: es otra versión.",
    deleted: "El oficio y sus archivos ya no existen.",
  },
};

export const tooMany = () => invalid("name", `Puedes tener ${limits.skills} oficios; elimina antes alguno.`);
