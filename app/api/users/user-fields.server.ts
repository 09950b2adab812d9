import { z } from "@hono/zod-openapi";
import type { UserRow } from "../../db/tables.ts";
import { draft, isoOrNull, parseDraft, rowFields, timesOf } from "../http/schemas.server.ts";

export const user = z
  .object({
    ...rowFields,
    name: z.string(),
    email: z.string(),
    role: z.enum(["user", "admin"]),
    status: z.enum(["active", "inactive"]),
    hasPassword: z.boolean().openapi({ description: "Si no, entra con un proveedor." }),
    draft,
    lastSeenAt: z.string().nullable(),
  })
  .openapi("User");

/** An account as the API shows it: never its password, and its unsent draft to its person alone. */
export const showUser = (row: UserRow, reader: { id: string; owesSecondStep?: boolean }): z.output<typeof user> => ({
  id: row.id,
  ...timesOf(row),
  name: row.name,
  email: row.email,
  role: row.role,
  status: row.status,
  hasPassword: row.passwordHash !== "",
  draft: row.id === reader.id && !reader.owesSecondStep ? parseDraft(row.draft) : null,
  lastSeenAt: isoOrNull(row.lastSeenAt),
});
