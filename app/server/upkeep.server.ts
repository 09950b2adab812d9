import type { Services } from "../api/env.server.ts";
import { addPartitions, arePartitioned } from "../db/partitions/messages.server.ts";
import { lookAtAll, sweepFolders } from "../files/drives/look.server.ts";
import { sweepReceived } from "../http/multipart.server.ts";
import type { JobRules } from "../jobs/jobs.server.ts";
import { limits } from "../process/limits.ts";
import { deleteDue } from "../retention/delete-due.server.ts";

const hour = 60 * 60_000;
const dayLong = 24 * hour;

/**
 * Hourly upkeep by one of the processes: removes data by the rules of retention, files that were never sent, expired sessions (with their
 * temporary chats), old idempotency keys, diagnoses and jobs. Has connected folders looked at.
 */
export const upkeep = (
  services: Pick<Services, "db" | "engine" | "auditKey" | "clock" | "files" | "changes" | "jobs">,
): JobRules => ({
  atOnce: 1,
  retries: [],
  every: hour,
  async work({ signal }) {
    const { db, engine, clock, files } = services;
    await deleteDue(services, clock.now(), signal);
    await db.deleteFrom("sessions").where("refreshExpiresAt", "<", clock.now()).execute();
    await db
      .deleteFrom("idempotency")
      .where("createdAt", "<", clock.now() - dayLong)
      .execute();
    await db
      .deleteFrom("diagnoses")
      .where("createdAt", "<", clock.now() - dayLong)
      .execute();
    await db
      .deleteFrom("jobs")
      .where("state", "in", ["done", "failed"])
      .where("updatedAt", "<", clock.now() - limits.endedJob)
      .execute();
    if (engine === "postgres" && (await arePartitioned(db))) await addPartitions(db, clock.now());
    await files.resume();
    await files.sweep();
    await sweepReceived();
    await sweepFolders(services);
    await lookAtAll(services);
  },
});
