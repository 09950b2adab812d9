import type { Services } from "../env.server.ts";

type Kind = "batch" | "errand";
type Work = { id: string; userId: string };
const tables = { batch: "batches", errand: "errands" } as const;
// States in which the work has to have a job.
const atWork = { batch: ["running"], errand: ["planning", "running"] } as const;

/** Continues a person's work in the background at once: a job that waits to be retried after a failure becomes due now. */
export async function goOn({ db, clock, jobs }: Services, kind: Kind, { id, userId }: Work): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable("jobs")
    .set({ dueAt: clock.now(), attempts: 0, problem: null })
    .where("kind", "=", kind)
    .where("subjectId", "=", id)
    .where("state", "=", "waiting")
    .executeTakeFirst();
  if (numUpdatedRows === 0n) await jobs.add({ kind, userId, subjectId: id });
  jobs.wake(kind);
}

/** Continues work that has no job: a restored copy or a change of engine brings the work, but not its jobs. */
export async function resumeAll(services: Services, kind: Kind): Promise<void> {
  const left = await services.db
    .selectFrom(`${tables[kind]} as work` as "errands as work")
    .where("work.state", "in", [...atWork[kind]])
    .where((e) =>
      e.not(
        e.exists(
          e
            .selectFrom("jobs")
            .whereRef("jobs.subjectId", "=", "work.id")
            .where("jobs.kind", "=", kind)
            .where("jobs.state", "in", ["waiting", "running"])
            .select("jobs.id"),
        ),
      ),
    )
    .select(["work.id", "work.userId"])
    .execute();
  for (const work of left) await goOn(services, kind, work);
}
