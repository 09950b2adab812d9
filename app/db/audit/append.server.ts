import type { Trx } from "../engine.server.ts";
import { newRow } from "../rows.server.ts";
import type { AuditRow } from "../tables.ts";

/** An event, as it is told to the audit trail. */
export type AuditEvent = Pick<AuditRow, "action" | "resource"> &
  Partial<Pick<AuditRow, "id" | "actorId" | "ownerId" | "resourceId" | "ip">> & { changes?: object };

/**
 * Adds an event to the audit trail, in the transaction of the change: neither is stored without the other. The event is sealed a few
 * seconds later, so that no writer waits for another. An event with an `id` that is there already is not added again.
 */
export async function appendAudit(trx: Trx, { changes = {}, ...event }: AuditEvent): Promise<void> {
  const now = Date.now();
  const unsealed = { seq: null, hash: null, details: null, sealKeyId: null };
  const nobody = { actorId: null, ownerId: null, resourceId: null, ip: "" };
  await trx
    .insertInto("audit")
    .values({
      ...newRow(now),
      ...nobody,
      ...event,
      changes: JSON.stringify(changes),
      ...unsealed,
    })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .execute();
}
