import type { Context } from "hono";
import { v7 as newId } from "uuid";
import type { Db } from "../db/connection.server.ts";
import type { AuditRow } from "../db/tables.ts";
import type { ApiEnv } from "./env.server.ts";

type Event = Pick<AuditRow, "actorId" | "action" | "resource" | "resourceId"> & {
  ownerId?: string | null;
  changes?: { before?: object; after?: object };
};

/** Leaves a trace of an admin's write or a sign-in event, and tells the open pages of whoever owns what was changed. `changes` never carries secrets. */
export async function recordAudit(db: Db, c: Context<ApiEnv>, event: Event): Promise<void> {
  const now = Date.now();
  const { changes = {}, ...what } = event;
  await db
    .insertInto("audit")
    .values({
      id: newId(),
      createdAt: now,
      updatedAt: now,
      ip: c.env.ip ?? "",
      changes: JSON.stringify(changes),
      ownerId: null,
      ...what,
    })
    .execute();
  const owner = what.ownerId;
  if (owner && owner !== what.actorId) c.var.services.changes.tell({ userId: owner, what: what.resource });
}

/** Leaves a trace of a write where its owner is somebody else: only an admin can do that. */
export async function auditOthers(
  db: Db,
  c: Context<ApiEnv>,
  ownerId: string,
  event: Omit<Event, "actorId" | "ownerId">,
): Promise<void> {
  const { person } = c.var;
  if (person.id !== ownerId) await recordAudit(db, c, { ...event, actorId: person.id, ownerId });
}
