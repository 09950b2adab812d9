import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { recordAudit } from "./audit.server.ts";
import { signedIn } from "./authentication.server.ts";
import type { ApiEnv } from "./env.server.ts";
import { answerInvalid, notFound } from "./problem.server.ts";
import { answers, bearer, idParam, iso } from "./schemas.server.ts";

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

const common = { security: bearer, middleware: [signedIn] };

/** Where a person has signed in, and how to end it from here. */
export const openSessions = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(
    createRoute({
      method: "get",
      path: "/",
      ...common,
      responses: { 200: answers(z.object({ items: z.array(openSession) }), "Las sesiones abiertas de la persona.") },
    }),
    async (c) => {
      const { person, services } = c.var;
      const rows = await services.db
        .selectFrom("sessions")
        .where("userId", "=", person.id)
        .where("refreshExpiresAt", ">", Date.now())
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
    },
  )
  .openapi(
    createRoute({
      method: "delete",
      path: "/",
      ...common,
      responses: { 204: { description: "Han terminado todas las sesiones menos esta." } },
    }),
    async (c) => {
      const { person, services } = c.var;
      await services.db
        .deleteFrom("sessions")
        .where("userId", "=", person.id)
        .where("id", "!=", person.sessionId)
        .execute();
      await recordAudit(services.db, c, {
        actorId: person.id,
        action: "signout-others",
        resource: "session",
        resourceId: null,
      });
      return c.body(null, 204);
    },
  )
  .openapi(
    createRoute({
      method: "delete",
      path: "/{id}",
      ...common,
      request: { params: idParam },
      responses: { 204: { description: "La sesión ha terminado." } },
    }),
    async (c) => {
      const { person, services } = c.var;
      const { id } = c.req.valid("param");
      const { numDeletedRows } = await services.db
        .deleteFrom("sessions")
        .where("userId", "=", person.id)
        .where("id", "=", id)
        .executeTakeFirst();
      if (numDeletedRows === 0n) throw notFound();
      await recordAudit(services.db, c, {
        actorId: person.id,
        action: "signout",
        resource: "session",
        resourceId: id,
      });
      return c.body(null, 204);
    },
  );
