import { z } from "@hono/zod-openapi";
import type { UserRow } from "../../db/tables.ts";
import { draft, iso, isoOrNull, parseDraft } from "../http/schemas.server.ts";

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
