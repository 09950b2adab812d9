import { z } from "@hono/zod-openapi";
import { everyone, indexText } from "../../db/search.server.ts";
import { limits } from "../../process/limits.ts";
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
};
const body = z.strictObject(fields);
const shown = z.object({ ...rowFields, ...fields }).openapi("Training");

/** What every model is given: instructions, knowledge that is searched, examples as earlier turns. */
export const trainings: Resource<"trainings", typeof shown, typeof body> = {
  table: "trainings",
  name: "training",
  shown,
  body,
  method: "patch",
  show: (row) => ({
    ...row,
    ...timesOf(row),
    enabled: row.enabled === 1,
  }),
  columns: ({ enabled, ...given }) => ({ ...given, ...(enabled !== undefined && { enabled: enabled ? 1 : 0 }) }),
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
  async check({ db }, { projectId }) {
    if (!projectId) return;
    const project = await db.selectFrom("projects").where("id", "=", projectId).select("id").executeTakeFirst();
    if (!project) throw invalid("projectId", "Ese proyecto no existe.");
  },
  async stored(db, row) {
    await db.deleteFrom("passages").where("trainingId", "=", row.id).execute();
    if (row.kind === "knowledge") await indexText(db, row.content, everyone, { trainingId: row.id });
  },
};
