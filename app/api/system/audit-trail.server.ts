import { z } from "@hono/zod-openapi";
import type { Readable } from "../http/crud.server.ts";
import { iso, rowFields, timesOf } from "../http/schemas.server.ts";

const shown = z
  .object({
    ...rowFields,
    actorId: z.string().nullable(),
    ownerId: z.string().nullable(),
    action: z.string(),
    resource: z.string(),
    resourceId: z.string().nullable(),
    changes: z
      .object({
        before: z.record(z.string(), z.unknown()).optional(),
        after: z.record(z.string(), z.unknown()).optional(),
      })
      .openapi({ description: "Antes y después, sin secretos." }),
    ip: z.string(),
    seq: z.number().nullable().openapi({ description: "Su número en la cadena; null: aún no está sellado." }),
    hash: z.string().nullable().openapi({ description: "Su sello, hecho con el del apunte anterior." }),
    at: z.string(),
  })
  .openapi("Audit");

/** What admins have changed and who has signed in. */
export const auditTrail: Readable<"audit", typeof shown> = {
  table: "audit",
  shown,
  show: ({ details: _details, sealKeyId: _key, ...row }) => ({
    ...row,
    ...timesOf(row),
    changes: JSON.parse(row.changes) as z.output<typeof shown>["changes"],
    at: iso(row.createdAt),
  }),
  list: {
    table: "audit",
    searched: ["action", "resource", "changes", "ip"],
    sortable: [{ column: "createdAt", direction: "desc" }],
    filters: { actorId: "text", action: "text", resource: "text", resourceId: "text" },
  },
};
