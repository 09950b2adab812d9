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
  const made = exportAccount(services, userId, async (entries) => {
    job.signal.throwIfAborted();
    await job.progress(entries, total);
  });
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
  return { name: exportName(), size };
}
