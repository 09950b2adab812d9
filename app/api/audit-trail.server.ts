import { z } from "@hono/zod-openapi";
import type { Readable } from "./crud.server.ts";
import { iso } from "./schemas.server.ts";

const shown = z
  .object({
    id: z.string(),
    createdAt: z.string(),
    updatedAt: z.string(),
    actorId: z.string().nullable(),
    ownerId: z.string().nullable(),
    action: z.string(),
    resource: z.string(),
    resourceId: z.string().nullable(),
    changes: z.string().openapi({ description: "Antes y después, en JSON, sin secretos." }),
    ip: z.string(),
  })
  .openapi("Audit");

/** What admins have changed and who has signed in. */
export const auditTrail: Readable<"audit", typeof shown> = {
  table: "audit",
  shown,
  show: (row) => ({ ...row, createdAt: iso(row.createdAt), updatedAt: iso(row.updatedAt) }),
  list: {
    table: "audit",
    searched: ["action", "resource", "changes", "ip"],
    sortable: [{ column: "createdAt", direction: "desc" }],
    filters: { actorId: "text", action: "text", resource: "text", resourceId: "text" },
  },
};
