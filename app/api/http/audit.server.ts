import type { Context } from "hono";
import { v7 as newId } from "uuid";
import type { Db } from "../../db/connection.server.ts";
import type { AuditRow } from "../../db/tables.ts";
import type { ApiEnv } from "../env.server.ts";

type Event = Pick<AuditRow, "actorId" | "action" | "resource" | "resourceId"> & {
  ownerId?: string | null;
  changes?: { before?: object; after?: object };
};

/**
 * Records an admin's write or a sign-in event in the audit trail, and publishes the change to the owner's open pages.
 * `changes` never carries secrets.
 */
export async function recordAudit(db: Db, c: Context<ApiEnv>, event: Event): Promise<void> {
  const now = Date.now();
  const { changes = {}, ...what } = event;
  await db
    .insertInto("audit")
    .values({
      id: newId(),
      createdAt: now,
      updatedAt: now,
      ip: c.env.ip,
      changes: JSON.stringify(changes),
      ownerId: null,
      ...what,
    })
    .execute();
  const owner = what.ownerId;
  if (owner && owner !== what.actorId) c.var.services.changes.tell({ userId: owner, what: what.resource });
}

/** Records a write to something that belongs to somebody else; only admins can do that. */
export async function auditOthers(
  db: Db,
  c: Context<ApiEnv>,
  ownerId: string,
  event: Omit<Event, "actorId" | "ownerId">,
): Promise<void> {
  const { person } = c.var;
  if (person.id !== ownerId) await recordAudit(db, c, { ...event, actorId: person.id, ownerId });
}
