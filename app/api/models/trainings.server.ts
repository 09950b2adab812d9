import { z } from "@hono/zod-openapi";
import { everyone, indexText } from "../../db/search/passages.server.ts";
import { limits } from "../../process/limits.ts";
import { checkGroupIds, groupIds, parseGroupIds, shownGroupIds } from "../groups/group-ids.server.ts";
import { invalid } from "../http/problem.server.ts";
import type { Resource } from "../http/resource.server.ts";
import { flag, flagsOf, id, line, position, rowFields, text, timesOf } from "../http/schemas.server.ts";

const fields = {
  title: line("El título", limits.chatTitle, 1),
  kind: z.enum(["instruction", "knowledge", "example"], "Ese tipo no existe."),
  content: text("El contenido", limits.trainingContent, 1),
  projectId: id.nullable().default(null).openapi({ description: "null: para todos." }),
  enabled: flag.default(true),
  position,
  groupIds,
};
const body = z.strictObject(fields);
const shown = z.object({ ...rowFields, ...fields, groupIds: shownGroupIds }).openapi("Training");

/** Texts for every model: instructions, knowledge that is searched, examples as earlier turns. */
export const trainings: Resource<"trainings", typeof shown, typeof body, "patch"> = {
  table: "trainings",
  name: "training",
  byPrograms: true,
  shown,
  body,
  method: "patch",
  show: (row) => ({
    ...row,
    ...timesOf(row),
    ...flagsOf(row, "enabled"),
    groupIds: parseGroupIds(row),
  }),
  async columns(given, { services: { db }, before }) {
    await checkGroupIds(db, given.groupIds, before && parseGroupIds(before));
    const { projectId } = given;
    if (projectId) {
      const project = await db.selectFrom("projects").where("id", "=", projectId).select("id").executeTakeFirst();
      if (!project) throw invalid("projectId", "Ese proyecto no existe.");
    }
    return given;
  },
  list: {
    searched: ["title", "content"],
    sortable: [
      { number: "position", direction: "asc" },
      { text: "title", direction: "asc" },
      { number: "updatedAt", direction: "desc" },
      { text: "kind", direction: "asc" },
      { number: "enabled", direction: "desc" },
    ],
    filters: { kind: "text", enabled: "flag", projectId: "text" },
  },
  async inTransaction(trx, row) {
    await trx.deleteFrom("passages").where("trainingId", "=", row.id).execute();
    if (row.kind === "knowledge") await indexText(trx, row.content, everyone, { trainingId: row.id });
  },
};
