import { v7 as newId } from "uuid";
import type { Db } from "../connection.server.ts";
import type { AuditRow } from "../tables.ts";

/** What happened, as it is told to the audit trail. */
export type AuditEvent = Pick<AuditRow, "action" | "resource"> &
  Partial<Pick<AuditRow, "id" | "actorId" | "ownerId" | "resourceId" | "ip">> & { changes?: object };

/**
 * Adds an event to the audit trail. It is sealed a few seconds later: who writes an event waits for no other. One with an `id` that
 * is there already is not added again.
 */
export async function appendAudit(db: Db, { changes = {}, ...event }: AuditEvent): Promise<void> {
  const now = Date.now();
  const unsealed = { seq: null, hash: null, details: null, sealKeyId: null };
  const nobody = { actorId: null, ownerId: null, resourceId: null, ip: "" };
  await db
    .insertInto("audit")
    .values({
      id: newId(),
      createdAt: now,
      updatedAt: now,
      ...nobody,
      ...event,
      changes: JSON.stringify(changes),
      ...unsealed,
    })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .execute();
}
