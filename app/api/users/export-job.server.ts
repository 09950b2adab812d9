import { type JobAtWork, JobFailed, type JobRules } from "../../jobs/jobs.server.ts";
import type { Services as AllServices } from "../env.server.ts";
import { countEntries, exportAccount, exportName } from "./export.server.ts";

type Services = Pick<AllServices, "db" | "storage" | "log">;

/** What a prepared export is called, and its size in bytes. */
export type Prepared = { name: string; size: number };

// So that one of hundreds of megabytes does not hold up everybody else's.
const atOnce = 2;
const retries = [10_000, 60_000, 10 * 60_000];

/** How the exports of accounts are prepared: each is stored under the id of its job, and swept once that is deleted. */
export const exporting = (services: Services): JobRules => ({
  atOnce,
  retries,
  work: (job) => prepare(services, job),
});

async function prepare(services: Services, job: JobAtWork): Promise<Prepared> {
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

/** Deletes what was prepared before, now that there is something newer; and this one if its person was deleted meanwhile. */
async function deleteOthers({ db, storage }: Services, id: string, userId: string): Promise<void> {
  const own = db.selectFrom("jobs").where("kind", "=", "export").where("userId", "=", userId);
  const ids = (await own.select(["id", "state"]).execute())
    .filter((one) => one.id !== id && (one.state === "done" || one.state === "failed"))
    .map((one) => one.id);
  if (ids.length > 0) await db.deleteFrom("jobs").where("id", "in", ids).execute();
  const isThere = await db.selectFrom("jobs").where("id", "=", id).select("id").executeTakeFirst();
  await storage.delete(isThere ? ids : [...ids, id]);
}
