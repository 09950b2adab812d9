import type { Context } from "hono";
import { v7 as newId } from "uuid";
import type { Db } from "../db/connection.server.ts";
import type { AuditRow } from "../db/tables.ts";
import type { ApiEnv } from "./env.server.ts";

/** Leaves a trace of an admin's write or a sign-in event. `changes` never carries secrets. */
export async function recordAudit(
  db: Db,
  c: Context<ApiEnv>,
  event: Pick<AuditRow, "actorId" | "action" | "resource" | "resourceId"> & { changes?: Record<string, unknown> },
): Promise<void> {
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
      ...what,
    })
    .execute();
}
