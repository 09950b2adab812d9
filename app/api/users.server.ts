import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { UserRow } from "../db/tables.ts";
import { signedIn } from "./authentication.server.ts";
import type { ApiEnv } from "./env.server.ts";
import { answerInvalid, notFound } from "./problem.server.ts";
import { answers, bearer, draft, idParam, iso, isoOrNull, parseDraft, takes } from "./schemas.server.ts";

export const user = z
  .object({
    id: z.string(),
    createdAt: z.string(),
    updatedAt: z.string(),
    name: z.string(),
    email: z.string(),
    role: z.enum(["user", "admin"]),
    status: z.enum(["active", "inactive"]),
    draft,
    lastSeenAt: z.string().nullable(),
  })
  .openapi("User");

/** An account as the API shows it: never its password. */
export const showUser = (row: UserRow): z.output<typeof user> => ({
  id: row.id,
  createdAt: iso(row.createdAt),
  updatedAt: iso(row.updatedAt),
  name: row.name,
  email: row.email,
  role: row.role,
  status: row.status,
  draft: parseDraft(row.draft),
  lastSeenAt: isoOrNull(row.lastSeenAt),
});

export const users = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(
  createRoute({
    method: "patch",
    path: "/{id}",
    security: bearer,
    middleware: [signedIn],
    request: { params: idParam, body: takes(z.strictObject({ draft })) },
    responses: { 200: answers(user, "La cuenta, cambiada.") },
  }),
  async (c) => {
    const { db } = c.var.services;
    const { id } = c.req.valid("param");
    if (id !== c.var.person.id) throw notFound();
    const given = c.req.valid("json");
    const row = await db
      .updateTable("users")
      .set({ draft: given.draft && JSON.stringify(given.draft) })
      .where("id", "=", id)
      .returningAll()
      .executeTakeFirstOrThrow();
    return c.json(showUser(row), 200);
  },
);
