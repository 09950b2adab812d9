import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { revokeSessions } from "../../db/people/revoke-access.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { recordAudit } from "../http/audit.server.ts";
import { noProgram, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, notFound } from "../http/problem.server.ts";
import { mayEndSessions } from "../http/publish-change.server.ts";
import { deletionRoute } from "../http/resource-routes.server.ts";
import { answers, bearer, iso } from "../http/schemas.server.ts";

const openSession = z
  .object({
    id: z.string(),
    createdAt: z.string(),
    lastSeenAt: z.string(),
    userAgent: z.string(),
    ip: z.string(),
    current: z.boolean(),
  })
  .openapi("OpenSession");

const common = { security: bearer, middleware: [signedIn, noProgram, mayEndSessions((c) => c.var.person.id)] };

const listSessionsRoute = createRoute({
  method: "get",
  path: "/",
  ...common,
  responses: { 200: answers(z.object({ items: z.array(openSession) }), "Las sesiones abiertas de la persona.") },
});
const listSessions: RouteHandler<typeof listSessionsRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const rows = await services.db
    .selectFrom("sessions")
    .where("userId", "=", person.id)
    .where("roomId", "is", null)
    .where("refreshExpiresAt", ">", services.clock.now())
    .orderBy("lastSeenAt", "desc")
    .orderBy("id", "desc")
    .select(["id", "createdAt", "lastSeenAt", "userAgent", "ip"])
    .execute();
  const items = rows.map((row) => ({
    ...row,
    createdAt: iso(row.createdAt),
    lastSeenAt: iso(row.lastSeenAt),
    current: row.id === person.sessionId,
  }));
  return c.json({ items }, 200);
};

const endOthersRoute = createRoute({
  method: "delete",
  path: "/",
  ...common,
  responses: { 204: { description: "Han terminado todas las sesiones menos esta." } },
});
const endOthers: RouteHandler<typeof endOthersRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  await services.db.transaction().execute(async (trx) => {
    await revokeSessions(trx, person.id, person.sessionId);
    await recordAudit(trx, c, "signout-others", "session", null);
  });
  return c.body(null, 204);
};

const endOneRoute = deletionRoute(common, "La sesión ha terminado.");
const endOne: RouteHandler<typeof endOneRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const { id } = c.req.valid("param");
  await services.db.transaction().execute(async (trx) => {
    const { numDeletedRows } = await trx
      .deleteFrom("sessions")
      .where("userId", "=", person.id)
      .where("roomId", "is", null)
      .where("id", "=", id)
      .executeTakeFirst();
    if (numDeletedRows === 0n) throw notFound();
    await recordAudit(trx, c, "signout", "session", id);
  });
  return c.body(null, 204);
};

/** A person's open sessions, and their end. */
export const openSessions = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(listSessionsRoute, listSessions)
  .openapi(endOthersRoute, endOthers)
  .openapi(endOneRoute, endOne);
