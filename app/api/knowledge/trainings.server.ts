import { z } from "@hono/zod-openapi";
import type { Db } from "../../db/connection.server.ts";
import { everyone, indexText } from "../../db/search/passages.server.ts";
import { limits } from "../../process/limits.ts";
import { checkGroupIds, groupIds, groupIdsColumn, parseGroupIds, shownGroupIds } from "../groups/group-ids.server.ts";
import type { Resource } from "../http/crud.server.ts";
import { invalid } from "../http/problem.server.ts";
import { flag, id, line, position, rowFields, text, timesOf } from "../http/schemas.server.ts";

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

/** What every model is given: instructions, knowledge that is searched, examples as earlier turns. */
export const trainings: Resource<"trainings", typeof shown, typeof body> = {
  table: "trainings",
  name: "training",
  byPrograms: true,
  shown,
  body,
  method: "patch",
  show: (row) => ({
    ...row,
    ...timesOf(row),
    enabled: row.enabled === 1,
    groupIds: parseGroupIds(row),
  }),
  columns: ({ enabled, groupIds: forGroups, ...given }) => ({
    ...given,
    ...(enabled !== undefined && { enabled: enabled ? 1 : 0 }),
    ...(forGroups !== undefined && { groupIds: groupIdsColumn(forGroups) }),
  }),
  list: {
    table: "trainings",
    searched: ["title", "content"],
    sortable: [
      { column: "position", direction: "asc" },
      { column: "title", direction: "asc" },
      { column: "updatedAt", direction: "desc" },
    ],
    filters: { kind: "text", enabled: "flag", projectId: "text" },
  },
  async check({ db }, row) {
    const { projectId } = row;
    await checkGroupIds(db, parseGroupIds(row), parseGroupIds(await storedTraining(db, row)));
    if (!projectId) return;
    const project = await db.selectFrom("projects").where("id", "=", projectId).select("id").executeTakeFirst();
    if (!project) throw invalid("projectId", "Ese proyecto no existe.");
  },
  async stored(db, row) {
    await db.deleteFrom("passages").where("trainingId", "=", row.id).execute();
    if (row.kind === "knowledge") await indexText(db, row.content, everyone, { trainingId: row.id });
  },
};

const storedTraining = async (db: Db, { id }: { id: string }) =>
  (await db.selectFrom("trainings").where("id", "=", id).select("groupIds").executeTakeFirst()) ?? { groupIds: null };
