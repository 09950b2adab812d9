import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { inProjectOf } from "../../db/people/shared-work.server.ts";
import { newRow } from "../../db/rows.server.ts";
import type { ProjectRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import type { ApiEnv, Person } from "../env.server.ts";
import { auditOthers } from "../http/audit.server.ts";
import { active, isAdmin, signedIn } from "../http/authentication.server.ts";
import { contains, listPage } from "../http/list.server.ts";
import { answerInvalid, notFound } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { changeRoute, creationRoute, deletionRoute, itemRoute, listRoute } from "../http/resource-routes.server.ts";
import { bearer, draft, idParam, line, parseDraft, rowFields, takes, text, timesOf } from "../http/schemas.server.ts";
import { refuseStale, storeChange } from "../http/stored-rows.server.ts";
import { findProject, seeProject, stopReplies } from "../http/visibility.server.ts";
import { refuseOnHold } from "../retention/holds.server.ts";
import { keepOthersWork } from "./project-members.server.ts";

const project = z
  .object({
    ...rowFields,
    userId: z.string(),
    name: z.string(),
    description: z.string(),
    instructions: z.string(),
    draft,
  })
  .openapi("Project");

const newProject = z.strictObject({
  name: line("El nombre", limits.name, 1),
  description: text("La descripción", limits.projectDescription).default(""),
  instructions: text("Las instrucciones", limits.projectInstructions).default(""),
});

/** `reader`: only the owner of a project sees its unsent draft. */
const showProject = (row: ProjectRow, reader: Pick<Person, "id">): z.output<typeof project> => ({
  ...row,
  draft: row.userId === reader.id ? parseDraft(row.draft) : null,
  ...timesOf(row),
});

/** A project as the audit trail shows it: without the texts that its owner has written for models. */
const auditedFields = ({ name, description, instructions }: ProjectRow) => ({
  name,
  characters: description.length + instructions.length,
});

const quiet = { security: bearer, middleware: [signedIn, active] };
const common = { ...quiet, middleware: [...quiet.middleware, publishes("project")] };

const listProjectsRoute = listRoute(common, project, "Los proyectos de la persona; para administradores, todos.");
const listProjects: RouteHandler<typeof listProjectsRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const query = c.req.valid("query");
  const visible = services.db
    .selectFrom("projects")
    .selectAll("projects")
    .select(inProjectOf("projects.id", person.id).as("isIn"))
    .$if(!isAdmin(person), (q) => q.where(inProjectOf("projects.id", person.id)))
    .where(contains("projects.name", query.q));
  const { rows, ...rest } = await listPage(services.db, visible, query, {
    table: "projects",
    sortable: [
      { text: "name", direction: "asc" },
      { number: "updatedAt", direction: "desc" },
      { number: "createdAt", direction: "desc" },
    ],
    filters: { userId: "text" },
  });
  const items = rows.map(({ isIn, ...row }) =>
    showProject(isIn ? row : { ...row, description: "", instructions: "" }, person),
  );
  return c.json({ items, ...rest }, 200);
};

const createProjectRoute = creationRoute(common, newProject, project, "El proyecto nuevo.");
const createProject: RouteHandler<typeof createProjectRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const now = Date.now();
  const row = {
    ...newRow(now),
    userId: person.id,
    draft: null,
    ...c.req.valid("json"),
  };
  await services.db.insertInto("projects").values(row).execute();
  return c.json(showProject(row, person), 201);
};

const readProjectRoute = itemRoute(common, project, "El proyecto.");
const readProject: RouteHandler<typeof readProjectRoute, ApiEnv> = async (c) => {
  return c.json(showProject(await seeProject(c, c.req.valid("param").id), c.var.person), 200);
};

const changeProjectRoute = changeRoute("put", common, newProject, project, "El proyecto, cambiado.");
const changeProject: RouteHandler<typeof changeProjectRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const before = await findProject(services, person, c.req.valid("param").id);
  // Only people who may read another person's project may change its texts.
  await seeProject(c, before.id);
  refuseStale(c, before, showProject(before, person));
  const columns = { ...c.req.valid("json"), updatedAt: Date.now() };
  const after = await services.db.transaction().execute(async (trx) => {
    const current = async () => showProject(await findProject({ ...services, db: trx }, person, before.id), person);
    const stored = await storeChange(c, trx, "projects", before, columns, current);
    const changes = { before: auditedFields(before), after: auditedFields(stored) };
    await auditOthers(trx, c, before.userId, "update", "project", before.id, changes);
    return stored;
  });
  return c.json(showProject(after, person), 200);
};

const keepDraftRoute = createRoute({
  method: "put",
  ...quiet,
  path: "/{id}/draft",
  request: { params: idParam, body: takes(z.strictObject({ draft })) },
  responses: { 204: { description: "Lo que espera en el proyecto sin enviar; null: nada." } },
});
const keepDraft: RouteHandler<typeof keepDraftRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const row = await findProject(services, person, c.req.valid("param").id);
  if (row.userId !== person.id) throw notFound();
  const unsent = c.req.valid("json").draft;
  const stored = unsent && JSON.stringify(unsent);
  await services.db.updateTable("projects").set({ draft: stored }).where("id", "=", row.id).execute();
  return c.body(null, 204);
};

const deleteProjectRoute = deletionRoute(common, "El proyecto, sus documentos y sus chats ya no existen.");
const deleteProject: RouteHandler<typeof deleteProjectRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const row = await findProject(services, person, c.req.valid("param").id);
  await refuseOnHold(services.db, person, row.userId);
  const own = { projectId: row.id, userId: row.userId };
  const chats = services.db.selectFrom("chats").where("projectId", "=", own.projectId).where("userId", "=", own.userId);
  for (const { id } of await chats.select("id").execute()) await stopReplies(services, { chatId: id });
  const documents = await services.db
    .selectFrom("files")
    .where("projectId", "=", own.projectId)
    .where("userId", "=", own.userId)
    // Artifacts stay, and so do the files by which search finds artifacts.
    .where("id", "not in", services.db.selectFrom("artifacts").where("fileId", "is not", null).select("fileId"))
    .select("id")
    .execute();
  await services.db.transaction().execute(async (trx) => {
    await keepOthersWork(trx, [row.id], row.userId);
    await trx.deleteFrom("projects").where("id", "=", row.id).execute();
    await auditOthers(trx, c, row.userId, "delete", "project", row.id, { before: auditedFields(row) });
  });
  await services.files.delete(documents.map(({ id }) => id));
  return c.body(null, 204);
};

/** Chats on one subject, with instructions that the model gets in all of them. */
export const projects = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(listProjectsRoute, listProjects)
  .openapi(createProjectRoute, createProject)
  .openapi(readProjectRoute, readProject)
  .openapi(changeProjectRoute, changeProject)
  .openapi(keepDraftRoute, keepDraft)
  .openapi(deleteProjectRoute, deleteProject);
