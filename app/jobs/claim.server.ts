import { sql } from "kysely";
import type { Db, Engine } from "../db/engine.server.ts";
import type { SharedClock } from "../db/processes/clock.server.ts";
import type { Processes } from "../db/processes/processes.server.ts";
import type { JobKind, JobRow } from "../db/tables.ts";

type ClaimServices = { db: Db; engine: Engine; clock: SharedClock; processes: Processes };

// In ms: a person who was served within this time waits for people who were not.
const lately = 60_000;

/**
 * Takes the next job of a kind for this process; undefined if none is due. At most one job of each person runs, or of each subject if
 * the job is for no person. People with the fewest recent jobs come first, so that hundreds of one person's files hold up nobody
 * else's. Processes that ask at the same time get different jobs: PostgreSQL skips the rows that another process is taking.
 */
export async function claimJob(
  { db, engine, clock, processes }: ClaimServices,
  kind: JobKind,
): Promise<JobRow | undefined> {
  const now = clock.now();
  // The first job of each person or subject: recent jobs are then counted once for each person, however many jobs wait.
  const firsts = db
    .selectFrom("jobs")
    .where("kind", "=", kind)
    .where("state", "=", "waiting")
    .where("dueAt", "<=", now)
    .groupBy(sql`coalesce("userId", "subjectId", id)`)
    .select((e) => e.fn.min("id").as("id"));
  const next = db
    .selectFrom("jobs as j")
    .where("j.id", "in", firsts)
    .where("j.state", "=", "waiting")
    .where((e) =>
      e.not(
        e.exists(
          e
            .selectFrom("jobs as r")
            .where(sql<boolean>`coalesce(r."userId", r."subjectId", r.id) = coalesce(j."userId", j."subjectId", j.id)`)
            .where("r.kind", "=", kind)
            .where("r.state", "=", "running")
            .select("r.id"),
        ),
      ),
    )
    .orderBy((e) =>
      e
        .selectFrom("jobs as d")
        .whereRef("d.userId", "=", "j.userId")
        .where("d.kind", "=", kind)
        .where("d.state", "in", ["done", "failed"])
        .where("d.updatedAt", ">", now - lately)
        .select(sql`count(*)`.as("served")),
    )
    .orderBy("j.id")
    .limit(1)
    .select("j.id")
    .$if(engine === "postgres", (query) => query.forUpdate("j").skipLocked());
  return db
    .updateTable("jobs")
    .set((e) => ({
      state: "running" as const,
      processId: processes.id,
      attempts: e("attempts", "+", 1),
      updatedAt: now,
    }))
    .where("id", "=", next)
    .returningAll()
    .executeTakeFirst();
}
