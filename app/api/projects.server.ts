import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { v7 as newId } from "uuid";
import type { ProjectRow } from "../db/tables.ts";
import { limits } from "../limits.ts";
import { findProject, stopReplies } from "./access.server.ts";
import { auditOthers } from "./audit.server.ts";
import { active, isAdmin, signedIn } from "./authentication.server.ts";
import type { ApiEnv } from "./env.server.ts";
import { contains, listOf, listPage, listQuery } from "./list.server.ts";
import { answerInvalid, notFound } from "./problem.server.ts";
import { answers, bearer, draft, idParam, iso, line, parseDraft, takes, text } from "./schemas.server.ts";
import { ifUnchanged, refuseStale, stale } from "./versions.server.ts";

const project = z
  .object({
    id: z.string(),
    createdAt: z.string(),
    updatedAt: z.string(),
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

const showProject = (row: ProjectRow): z.output<typeof project> => ({
  ...row,
  draft: parseDraft(row.draft),
  createdAt: iso(row.createdAt),
  updatedAt: iso(row.updatedAt),
});

const common = { security: bearer, middleware: [signedIn, active] };
const one = { ...common, path: "/{id}" as const };

/** Chats on one subject, with instructions that the model gets in all of them. */
export const projects = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(
    createRoute({
      method: "get",
      path: "/",
      ...common,
      request: { query: listQuery },
      responses: { 200: answers(listOf(project), "Los proyectos de la persona; para administradores, todos.") },
    }),
    async (c) => {
      const { person, services } = c.var;
      const query = c.req.valid("query");
      const visible = services.db
        .selectFrom("projects")
        .selectAll("projects")
        .$if(!isAdmin(person), (q) => q.where("projects.userId", "=", person.id))
        .$if(Boolean(query.q), (q) => q.where(contains("projects.name", query.q ?? "")));
      const { rows, ...rest } = await listPage(services.db, visible, query, {
        table: "projects",
        sortable: [
          { column: "name", direction: "asc" },
          { column: "updatedAt", direction: "desc" },
          { column: "createdAt", direction: "desc" },
        ],
        filters: { userId: "text" },
      });
      return c.json({ items: rows.map(showProject), ...rest }, 200);
    },
  )
  .openapi(
    createRoute({
      method: "post",
      path: "/",
      ...common,
      request: { body: takes(newProject) },
      responses: { 201: answers(project, "El proyecto nuevo.") },
    }),
    async (c) => {
      const { person, services } = c.var;
      const now = Date.now();
      const row = {
        id: newId(),
        createdAt: now,
        updatedAt: now,
        userId: person.id,
        draft: null,
        ...c.req.valid("json"),
      };
      await services.db.insertInto("projects").values(row).execute();
      return c.json(showProject(row), 201);
    },
  )
  .openapi(
    createRoute({
      method: "get",
      ...one,
      request: { params: idParam },
      responses: { 200: answers(project, "El proyecto.") },
    }),
    async (c) => c.json(showProject(await findProject(c.var.services, c.var.person, c.req.valid("param").id)), 200),
  )
  .openapi(
    createRoute({
      method: "put",
      ...one,
      request: { params: idParam, body: takes(newProject) },
      responses: { 200: answers(project, "El proyecto, cambiado.") },
    }),
    async (c) => {
      const { person, services } = c.var;
      const before = await findProject(services, person, c.req.valid("param").id);
      refuseStale(c, before, showProject(before));
      const after = { ...before, ...c.req.valid("json"), updatedAt: Date.now() };
      const { numUpdatedRows } = await services.db
        .updateTable("projects")
        .set(after)
        .where("id", "=", before.id)
        .$call(ifUnchanged(c, before))
        .executeTakeFirst();
      if (numUpdatedRows === 0n) throw stale(showProject(await findProject(services, person, before.id)));
      const changes = { before: showProject(before), after: showProject(after) };
      await auditOthers(services.db, c, before.userId, {
        action: "update",
        resource: "project",
        resourceId: before.id,
        changes,
      });
      return c.json(showProject(after), 200);
    },
  )
  .openapi(
    createRoute({
      method: "put",
      ...common,
      path: "/{id}/draft",
      request: { params: idParam, body: takes(z.strictObject({ draft })) },
      responses: { 204: { description: "Lo que espera en el proyecto sin enviar; null: nada." } },
    }),
    async (c) => {
      const { person, services } = c.var;
      const row = await findProject(services, person, c.req.valid("param").id);
      if (row.userId !== person.id) throw notFound();
      const unsent = c.req.valid("json").draft;
      const stored = unsent && JSON.stringify(unsent);
      await services.db.updateTable("projects").set({ draft: stored }).where("id", "=", row.id).execute();
      return c.body(null, 204);
    },
  )
  .openapi(
    createRoute({
      method: "delete",
      ...one,
      request: { params: idParam },
      responses: { 204: { description: "El proyecto, sus documentos y sus chats ya no existen." } },
    }),
    async (c) => {
      const { person, services } = c.var;
      const row = await findProject(services, person, c.req.valid("param").id);
      const chats = await services.db.selectFrom("chats").where("projectId", "=", row.id).select("id").execute();
      for (const { id } of chats) await stopReplies(services, id);
      const documents = await services.db.selectFrom("files").where("projectId", "=", row.id).select("id").execute();
      await services.db.deleteFrom("projects").where("id", "=", row.id).execute();
      await services.files.delete(documents.map(({ id }) => id));
      await auditOthers(services.db, c, row.userId, {
        action: "delete",
        resource: "project",
        resourceId: row.id,
        changes: { before: showProject(row) },
      });
      return c.body(null, 204);
    },
  );
