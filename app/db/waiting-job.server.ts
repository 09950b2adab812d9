import type { Insertable } from "kysely";
import type { JobKind, JobRow } from "./tables.ts";

/** The row of a new waiting job, without its id. `now`: epoch ms, by the shared clock. */
export const waitingJob = (kind: JobKind, now: number): Omit<Insertable<JobRow>, "id"> => ({
  createdAt: now,
  updatedAt: now,
  kind,
  state: "waiting",
  userId: null,
  subjectId: null,
  key: null,
  data: "{}",
  attempts: 0,
  dueAt: now,
  goodUntil: null,
  processId: null,
  done: null,
  total: null,
  problem: null,
  result: null,
});
