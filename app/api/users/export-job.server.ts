import { type JobAtWork, JobFailed, type JobRules } from "../../jobs/jobs.server.ts";
import { countEntries, type ExportServices, exportAccount, exportName } from "./export.server.ts";

/** Name of a prepared export, and its size in bytes. */
export type Prepared = { name: string; size: number };

// Two, so that an export of hundreds of megabytes does not hold up all others.
const atOnce = 2;
const retries = [10_000, 60_000, 10 * 60_000];

/** How the exports of accounts are prepared: each is stored under the id of its job, and swept once the job is deleted. */
export const exporting = (services: ExportServices): JobRules => ({
  atOnce,
  retries,
  work: (job) => prepare(services, job),
});

async function prepare(services: ExportServices, job: JobAtWork): Promise<Prepared> {
  const userId = job.userId ?? "";
  const total = await countEntries(services, userId);
  const told = (entries: number) => job.progress(entries, total);
  const made = exportAccount(services, userId, { told, signal: job.signal });
  let size = 0;
  const counted = async function* () {
    for await (const bytes of made) {
      size += bytes.length;
      yield bytes;
    }
  };
  await services.storage.put(job.id, "original", counted()).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOSPC")
      throw new JobFailed("en el servidor no queda sitio para prepararlos.", { cause: error });
    throw error;
  });
  await deleteOthers(services, job.id, userId);
  return { name: exportName(), size };
}

/** Deletes the person's older exports, which this export replaces; also this export, if the person was deleted meanwhile. */
async function deleteOthers({ db, storage }: ExportServices, id: string, userId: string): Promise<void> {
  const others = await db
    .deleteFrom("jobs")
    .where("kind", "=", "export")
    .where("userId", "=", userId)
    .where("id", "!=", id)
    .where("state", "in", ["done", "failed"])
    .returning("id")
    .execute();
  await storage.delete(others.map((other) => other.id));
  const isThere = await db.selectFrom("jobs").where("id", "=", id).select("id").executeTakeFirst();
  if (!isThere) await storage.delete([id]);
}
