import type { Context } from "hono";
import { appendAudit } from "../../db/audit/append.server.ts";
import type { Trx } from "../../db/engine.server.ts";
import type { ApiEnv } from "../env.server.ts";

type Changes = { before?: object; after?: object };
type Told = { actorId?: string | null; ownerId?: string | null; changes?: Changes };

/**
 * Records an admin's write or a sign-in event in the audit trail, in the transaction of the change, and publishes the change to the
 * owner's open pages.
 * The actor is the person of the request, unless `actorId` says otherwise; null is nobody who is known.
 * `changes` never carries secrets.
 */
export async function recordAudit(
  trx: Trx,
  c: Context<ApiEnv>,
  action: string,
  resource: string,
  resourceId: string | null,
  { actorId = c.var.person.id, ownerId = null, changes = {} }: Told = {},
): Promise<void> {
  await appendAudit(trx, { actorId, ownerId, action, resource, resourceId, changes, ip: c.env.ip });
  if (ownerId && ownerId !== actorId) c.var.services.changes.tell({ userId: ownerId, what: resource });
}

/** Records a write to something that belongs to somebody else; only admins can do that. */
export async function auditOthers(
  trx: Trx,
  c: Context<ApiEnv>,
  ownerId: string,
  action: string,
  resource: string,
  resourceId: string,
  changes: Changes = {},
): Promise<void> {
  if (c.var.person.id !== ownerId) await recordAudit(trx, c, action, resource, resourceId, { ownerId, changes });
}

/** Records what changes nothing here, such as a sign-in that has failed. */
export const recordEvent = (
  c: Context<ApiEnv>,
  action: string,
  resource: string,
  resourceId: string | null,
  how: Pick<Told, "actorId"> = {},
): Promise<void> =>
  c.var.services.db.transaction().execute((trx) => recordAudit(trx, c, action, resource, resourceId, how));
