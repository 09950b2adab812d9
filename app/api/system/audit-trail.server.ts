import { z } from "@hono/zod-openapi";
import type { AuditRow } from "../../db/tables.ts";
import { storedJson } from "../../process/text/json.ts";
import type { ReadResource } from "../http/resource.server.ts";
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

type Changes = z.output<typeof shown>["changes"];

// Texts of people that older versions kept in rows about these things; a sealed row is not rewritten.
const texts = new Set(["content", "draft", "instructions", "description"]);
const ofPeople = new Set(["chat", "message", "project", "summary"]);

function changesOf({ resource, changes }: Pick<AuditRow, "resource" | "changes">): Changes {
  const { before, after } = storedJson<Changes>(changes);
  if (!ofPeople.has(resource)) return { before, after };
  const without = (values: Changes["before"]) =>
    values && Object.fromEntries(Object.entries(values).filter(([name]) => !texts.has(name)));
  return { ...(before && { before: without(before) }), ...(after && { after: without(after) }) };
}

/** The audit trail: changes by administrators, and sign-ins. */
export const auditTrail: ReadResource<"audit", typeof shown> = {
  table: "audit",
  shown,
  show: ({ details: _details, sealKeyId: _key, ...row }) => ({
    ...row,
    ...timesOf(row),
    changes: changesOf(row),
    at: iso(row.createdAt),
  }),
  list: {
    searched: ["action", "resource", "ip"],
    sortable: [{ number: "createdAt", direction: "desc" }],
    filters: { actorId: "text", action: "text", resource: "text", resourceId: "text" },
  },
};
