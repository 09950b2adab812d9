import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { sql } from "kysely";
import type { Trx } from "../../db/engine.server.ts";
import { newRow } from "../../db/rows.server.ts";
import { limits } from "../../process/limits.ts";
import type { ApiEnv } from "../env.server.ts";
import { auditOthers } from "../http/audit.server.ts";
import { active, noProgram, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, invalid, notFound, Problem } from "../http/problem.server.ts";
import { publishes } from "../http/publish-change.server.ts";
import { countAttempt } from "../http/rate-limit.server.ts";
import { answers, bearer, id, idParam, takes } from "../http/schemas.server.ts";
import { findProject, seeProject, stopReplies } from "../http/visibility.server.ts";

const role = z.enum(["reads", "writes"], "Una persona puede leer o puede escribir.");
const member = z
  .object({ userId: z.string(), name: z.string(), email: z.string(), role: z.enum(["owner", "reads", "writes"]) })
  .openapi("ProjectMember");
const memberParams = z.object({
  id: idParam.shape.id,
  userId: id.openapi({ param: { name: "userId", in: "path" } }),
});
const common = { security: bearer, middleware: [signedIn, active, publishes("project")] };
/** Only a person at a browser changes the rights of others. */
const changes = { security: bearer, middleware: [signedIn, noProgram, active, publishes("project")] };

/**
 * Members of a project, who see its chats and documents with their owners. A member who «writes» begins own chats in the project and
 * adds documents; a chat has one author, and other members continue it in a copy.
 */
export const projectMembers = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(
    createRoute({
      method: "get",
      path: "/{id}/members",
      ...common,
      request: { params: idParam },
      responses: {
        200: answers(z.object({ items: z.array(member) }), "Quién está en el proyecto, primero de quién es."),
      },
    }),
    async (c) => {
      const { db } = c.var.services;
      const project = await seeProject(c, c.req.valid("param").id);
      const owner = await db
        .selectFrom("users")
        .where("id", "=", project.userId)
        .select(["id as userId", "name", "email"])
        .executeTakeFirstOrThrow(notFound);
      const rows = await db
        .selectFrom("projectMembers as m")
        .innerJoin("users as u", "u.id", "m.userId")
        .where("m.projectId", "=", project.id)
        .orderBy(sql`plain(u.name)`)
        .select(["m.userId", "u.name", "u.email", "m.role"])
        .execute();
      return c.json({ items: [{ ...owner, role: "owner" as const }, ...rows] }, 200);
    },
  )
  .openapi(
    createRoute({
      method: "post",
      path: "/{id}/members",
      ...changes,
      request: {
        params: idParam,
        body: takes(z.strictObject({ email: z.string("Falta el correo.").trim().max(limits.email), role })),
      },
      responses: { 204: { description: "Está en el proyecto, o su papel ha cambiado." } },
    }),
    async (c) => {
      const { services, person } = c.var;
      const { db } = services;
      const project = await findProject(services, person, c.req.valid("param").id);
      // Members read a whole project for good: an admin who could add members, even themselves, would no longer need a purpose.
      if (project.userId !== person.id) throw new Problem(403, "Solo quien tiene el proyecto añade a otras personas.");
      // The answer tells whether an address has an account: attempts are limited, as for signing in.
      await countAttempt(c, "member", person.id);
      const given = c.req.valid("json");
      const user = await db
        .selectFrom("users")
        .where("emailKey", "=", given.email.toLowerCase())
        .where("status", "=", "active")
        .select("id")
        .executeTakeFirst();
      if (!user) throw invalid("email", "Nadie de aquí tiene ese correo.");
      if (user.id === project.userId) throw invalid("email", "El proyecto ya es de esa persona.");
      const now = Date.now();
      const row = {
        ...newRow(now),
        projectId: project.id,
        userId: user.id,
        role: given.role,
      };
      await db.transaction().execute(async (trx) => {
        await trx
          .insertInto("projectMembers")
          .values(row)
          .onConflict((conflict) =>
            conflict.columns(["userId", "projectId"]).doUpdateSet({ role: given.role, updatedAt: now }),
          )
          .execute();
        const after = { userId: user.id, role: given.role };
        await auditOthers(trx, c, project.userId, "update", "project", project.id, { after });
      });
      services.changes.tell({ userId: user.id, what: "project" });
      return c.body(null, 204);
    },
  )
  .openapi(
    createRoute({
      method: "put",
      path: "/{id}/owner",
      ...changes,
      request: { params: idParam, body: takes(z.strictObject({ userId: id })) },
      responses: { 204: { description: "El proyecto es de esa persona; quien lo tenía puede escribir en él." } },
    }),
    async (c) => {
      const { services, person } = c.var;
      const project = await findProject(services, person, c.req.valid("param").id);
      const { userId } = c.req.valid("json");
      await services.db.transaction().execute(async (trx) => {
        const { numDeletedRows } = await trx
          .deleteFrom("projectMembers")
          .where("projectId", "=", project.id)
          .where("userId", "=", userId)
          .executeTakeFirst();
        if (numDeletedRows === 0n) throw invalid("userId", "Esa persona no está en el proyecto. Añádela antes.");
        const now = Date.now();
        const before = { projectId: project.id, userId: project.userId, role: "writes" as const };
        await trx
          .insertInto("projectMembers")
          .values({ ...newRow(now), ...before })
          .execute();
        await trx
          .updateTable("projects")
          .set({ userId, draft: null, updatedAt: now })
          .where("id", "=", project.id)
          .execute();
        const changes = { before: { userId: project.userId }, after: { userId } };
        await auditOthers(trx, c, project.userId, "update", "project", project.id, changes);
      });
      services.changes.tell({ userId, what: "project" });
      return c.body(null, 204);
    },
  )
  .openapi(
    createRoute({
      method: "delete",
      path: "/{id}/members/{userId}",
      ...changes,
      request: { params: memberParams },
      responses: { 204: { description: "Ya no está; sus conversaciones y documentos salen del proyecto con ella." } },
    }),
    async (c) => {
      const { services, person } = c.var;
      const { id: projectId, userId } = c.req.valid("param");
      // Anybody may leave; only the owner takes others out.
      const isOwn = userId === person.id;
      const project = isOwn ? await seeProject(c, projectId) : await findProject(services, person, projectId);
      if (userId === project.userId) {
        throw new Problem(409, "El proyecto es tuyo: dáselo antes a otra persona, o elimínalo.");
      }
      const theirs = services.db.selectFrom("chats").where("projectId", "=", project.id).where("userId", "=", userId);
      const chats = await theirs.select("id").execute();
      await services.db.transaction().execute(async (trx) => {
        const { numDeletedRows } = await trx
          .deleteFrom("projectMembers")
          .where("projectId", "=", project.id)
          .where("userId", "=", userId)
          .executeTakeFirst();
        if (numDeletedRows === 0n) throw notFound();
        await takeOut(trx, project.id, userId);
        if (!isOwn) await auditOthers(trx, c, project.userId, "update", "project", project.id, { before: { userId } });
      });
      // These replies use the project's instructions and documents.
      for (const { id: chatId } of chats) await stopReplies(services, { chatId });
      services.changes.tell({ userId, what: "project" });
      services.changes.tell({ userId: project.userId, what: "project" });
      return c.body(null, 204);
    },
  );

/** A leaving member takes their chats and documents along, as no chat stays in a project that its owner can't see. */
async function takeOut(trx: Trx, projectId: string, userId: string): Promise<void> {
  const own = { projectId: null };
  // The documents in these folders go too; a sweep removes their bytes.
  await trx.deleteFrom("folders").where("projectId", "=", projectId).where("userId", "=", userId).execute();
  await trx.updateTable("chats").set(own).where("projectId", "=", projectId).where("userId", "=", userId).execute();
  await trx.updateTable("files").set(own).where("projectId", "=", projectId).where("userId", "=", userId).execute();
  await trx.updateTable("artifacts").set(own).where("projectId", "=", projectId).where("userId", "=", userId).execute();
  await trx.updateTable("memories").set(own).where("projectId", "=", projectId).where("userId", "=", userId).execute();
}

/** Runs before a project is deleted: other people keep their things in it, and artifacts stay. */
export async function keepOthersWork(trx: Trx, projectIds: string[], ownerId: string): Promise<void> {
  if (projectIds.length === 0) return;
  const own = { projectId: null };
  await trx.updateTable("chats").set(own).where("projectId", "in", projectIds).where("userId", "!=", ownerId).execute();
  await trx.updateTable("files").set(own).where("projectId", "in", projectIds).where("userId", "!=", ownerId).execute();
  const theirs = trx.updateTable("memories").set(own).where("projectId", "in", projectIds);
  await theirs.where("userId", "!=", ownerId).execute();
  // Artifacts belong to their chats, and stay; so do the files by which search finds artifacts.
  const written = trx.selectFrom("artifacts").where("fileId", "is not", null).select("fileId");
  await trx.updateTable("files").set(own).where("projectId", "in", projectIds).where("id", "in", written).execute();
  await trx.updateTable("artifacts").set(own).where("projectId", "in", projectIds).execute();
}
