import { EventEmitter } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import pLimit, { type LimitFunction } from "p-limit";
import { v7 as newId } from "uuid";
import type { Db, Engine } from "../db/engine.server.ts";
import type { SharedClock } from "../db/processes/clock.server.ts";
import type { Processes } from "../db/processes/processes.server.ts";
import type { JobKind, JobRow } from "../db/tables.ts";
import { waitingJob } from "../db/waiting-job.server.ts";
import type { Log } from "../process/log.server.ts";
import type { Changes } from "../realtime/changes.server.ts";
import { claimJob } from "./claim.server.ts";

// In ms.
const lookEvery = 5_000;
const askEvery = 300;
const tellEvery = 2_000;
// Running jobs have this long when the process ends; unfinished ones are begun again elsewhere, or at the next start.
const patience = 2_000;
// Attempts that a job may lose to dying processes, beside the retries: the job itself may kill the process.
const deathsAtMost = 2;

/** Work can't succeed, however often it is tried. The message is the sentence for people. */
export class JobFailed extends Error {
  override name = "JobFailed";
}

/** An attempt has failed for a cause that passes or that an operator can mend. The message is the sentence for people. */
export class JobDelayed extends Error {
  override name = "JobDelayed";
}

/** The job is no longer this process's: the process was taken for dead, and another one has begun the job again. */
class JobLost extends Error {
  override name = "JobLost";
}

/** Arguments of a job's work. */
export type JobAtWork = Pick<JobRow, "id" | "userId" | "subjectId" | "data" | "attempts"> & {
  /** Stores how far the job has come. Rejects if the job was taken from this process meanwhile. */
  progress(done: number, total: number): Promise<void>;
  /** Replaces `data`, the state for the next attempt. */
  remember(data: string): Promise<void>;
  /** Aborted when the process ends. */
  signal: AbortSignal;
};

/** How jobs of one kind are done. */
export type JobRules = {
  /** Jobs that run at once in a process; at most one for each person. */
  atOnce: number;
  /** Pauses before a failed job is tried again, in ms; after the last retry, it has failed for good. */
  retries: number[];
  /** For work that repeats: how long after its end, in ms. */
  every?: number;
  /** Does the job and returns its result. Throws JobFailed where another attempt would be of no use. */
  work(job: JobAtWork): Promise<unknown>;
  /** Called when the job has failed for good. */
  failed?(job: JobRow, problem: string): Promise<void>;
};

export type NewJob = Pick<JobRow, "kind"> &
  Partial<Pick<JobRow, "id" | "userId" | "subjectId" | "data" | "dueAt" | "goodUntil">>;
type JobServices = { db: Db; engine: Engine; clock: SharedClock; processes: Processes; changes: Changes; log: Log };

/**
 * Work that is done in the background, by any process on this database: each job by one process at a time, again after a failure, and
 * by another process if the first one dies. A job may therefore run twice, and its work has to allow that.
 */
export class Jobs {
  readonly #services: JobServices;
  readonly #rules = new Map<JobKind, JobRules & { filling: LimitFunction }>();
  readonly #running = new Map<string, { kind: JobKind; ended: Promise<void> }>();
  /** Emits the id of a job when an attempt has ended, for code that waits for it in this process. */
  readonly #ends = new EventEmitter();
  readonly #closing = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #lookedAt = 0;

  constructor(services: JobServices) {
    this.#services = services;
  }

  /** How many jobs this process runs. */
  get underway(): number {
    return this.#running.size;
  }

  /** Sets how jobs of a kind are done. To be called before `start`. */
  handle(kind: JobKind, rules: JobRules): void {
    this.#rules.set(kind, { ...rules, filling: pLimit(1) });
  }

  /** Begins due jobs, and looks every few seconds for jobs that others have left. To be called after `Processes.join`. */
  async start(): Promise<void> {
    for (const [kind, { every }] of this.#rules) if (every) await this.#addRepeating(kind);
    const look = () => {
      this.#looking = this.#look().catch((error) =>
        this.#services.log.error({ err: error }, "no se pudo mirar qué trabajos hay"),
      );
      return this.#looking;
    };
    this.#timer = setInterval(look, lookEvery).unref();
    await look();
  }

  /** Stores a job, in the transaction `trx` if there is one; `wake` begins it at once. Returns its id. */
  async add(
    { id = newId(), kind, userId = null, subjectId = null, data = "{}", dueAt, goodUntil = null }: NewJob,
    trx?: Db,
  ) {
    const now = this.#services.clock.now();
    await (trx ?? this.#services.db)
      .insertInto("jobs")
      .values({ ...waitingJob(kind, now), id, userId, subjectId, data, goodUntil, dueAt: dueAt ?? now })
      .execute();
    return id;
  }

  /** Begins waiting jobs, as far as there is room. Does not wait for their end. */
  wake(kind: JobKind): void {
    const rules = this.#rules.get(kind);
    void rules
      ?.filling(() => this.#fill(kind, rules))
      .catch((error) => this.#services.log.error({ err: error, kind }, "no se pudo empezar un trabajo"));
  }

  /** The job once it has ended, or as it is after `within` ms; undefined if it was deleted. */
  async ended(id: string, within: number): Promise<JobRow | undefined> {
    const until = Date.now() + within;
    for (;;) {
      const job = await this.#services.db.selectFrom("jobs").where("id", "=", id).selectAll().executeTakeFirst();
      const left = until - Date.now();
      if (!job || hasEnded(job) || left <= 0) return job;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#ends.once(id, resolve);
      // If another process runs the job, its end is not emitted here.
      await Promise.race([promise, wait(Math.min(left, askEvery))]);
      this.#ends.off(id, resolve);
    }
  }

  /** Tries a failed job again, from its first attempt on. */
  async again({ id, kind }: Pick<JobRow, "id" | "kind">): Promise<void> {
    const now = this.#services.clock.now();
    await this.#services.db
      .updateTable("jobs")
      .set({ state: "waiting", attempts: 0, dueAt: now, problem: null, updatedAt: now })
      .where("id", "=", id)
      .where("state", "=", "failed")
      .execute();
    this.wake(kind);
  }

  /** Begins no more jobs; jobs that don't end in time are left to other processes, or to the next start. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closing.abort();
    await this.#looking;
    await Promise.all([...this.#rules.values()].map(({ filling }) => filling(async () => {})));
    const all = Promise.all([...this.#running.values()].map(({ ended }) => ended));
    await Promise.race([all, wait(patience, undefined, { ref: false })]);
    const { db, processes, log } = this.#services;
    await db
      .updateTable("jobs")
      .set((e) => ({ state: "waiting", processId: null, attempts: e("attempts", "-", 1) }))
      .where("processId", "=", processes.id)
      .where("state", "=", "running")
      .execute()
      .catch((error) => log.warn({ err: error }, "no se pudieron dejar los trabajos a otro proceso"));
  }

  async #addRepeating(kind: JobKind): Promise<void> {
    const now = this.#services.clock.now();
    await this.#services.db
      .insertInto("jobs")
      .values({ ...waitingJob(kind, now), id: newId(), key: kind })
      .onConflict((conflict) => conflict.column("key").doUpdateSet({ dueAt: now }))
      .execute();
    // An older version may have given it up.
    await this.#services.db
      .updateTable("jobs")
      .set({ state: "waiting", attempts: 0 })
      .where("key", "=", kind)
      .where("state", "=", "failed")
      .execute();
  }

  /** Puts jobs of dead processes, and claimed jobs that this process does not run, back to waiting; begins due jobs. */
  async #look(): Promise<void> {
    const { db, clock, processes } = this.#services;
    const now = clock.now();
    // The clock was ahead, and repeating jobs would wait for the time that it had.
    if (now < this.#lookedAt - lookEvery)
      for (const [kind, { every }] of this.#rules) if (every) await this.#addRepeating(kind);
    this.#lookedAt = now;
    const mine = [...this.#running.keys()];
    // A job that is being claimed at this moment is not on the list yet.
    const before = now - lookEvery;
    await db
      .updateTable("jobs")
      .set({ state: "waiting", processId: null })
      .where("state", "=", "running")
      .where((e) =>
        e.or([
          e("processId", "not in", e.selectFrom("processes").select("id")),
          e.and([
            e("processId", "=", processes.id),
            e("updatedAt", "<", before),
            ...(mine.length > 0 ? [e("id", "not in", mine)] : []),
          ]),
        ]),
      )
      .execute();
    // Asked for all kinds at once: most of the time nothing is due.
    const due = await db
      .selectFrom("jobs")
      .where("kind", "in", [...this.#rules.keys()])
      .where("state", "=", "waiting")
      .where("dueAt", "<=", clock.now())
      .select("kind")
      .distinct()
      .execute();
    for (const { kind } of due) this.wake(kind);
  }

  async #fill(kind: JobKind, rules: JobRules): Promise<void> {
    const ofKind = () => [...this.#running.values()].filter((one) => one.kind === kind).length;
    while (!this.#closing.signal.aborted && ofKind() < rules.atOnce) {
      const job = await claimJob(this.#services, kind);
      if (!job) return;
      const ended = this.#run(job, rules)
        .catch((error) => this.#services.log.error({ err: error, job: job.id }, "no se guardó un trabajo"))
        .finally(() => {
          this.#running.delete(job.id);
          this.#ends.emit(job.id);
          if (!this.#closing.signal.aborted) this.wake(kind);
        });
      this.#running.set(job.id, { kind, ended });
    }
  }

  async #run(job: JobRow, rules: JobRules): Promise<void> {
    const { clock, log } = this.#services;
    const now = clock.now();
    // Work that repeats is never given up: a run that fails tonight may succeed tomorrow.
    if (job.attempts > rules.retries.length + 1 + deathsAtMost && !rules.every)
      return this.#fail(job, rules, "se ha interrumpido varias veces.");
    if (job.goodUntil !== null && job.goodUntil < now) return this.#fail(job, rules, "ya no sirve: llega tarde.");
    try {
      const result = await rules.work({ ...job, ...this.#toldOf(job), signal: this.#closing.signal });
      const repeats = rules.every && { state: "waiting" as const, attempts: 0, dueAt: clock.now() + rules.every };
      const done = { state: "done" as const, result: JSON.stringify(result ?? null) };
      await this.#store(job, { ...(repeats ?? done), problem: null, processId: null });
    } catch (error) {
      // The job is left to another process, or to the next start.
      if (this.#closing.signal.aborted) return;
      if (error instanceof JobLost) return log.warn({ job: job.id }, "otro proceso ha seguido con un trabajo");
      if (error instanceof JobFailed) return this.#fail(job, rules, error.message);
      log.error({ err: error, job: job.id, kind: job.kind, attempt: job.attempts }, "falló un trabajo");
      const retry = rules.retries[job.attempts - 1] ?? rules.every;
      const why = error instanceof JobDelayed ? error.message : undefined;
      if (retry === undefined)
        return this.#fail(job, rules, why ?? "ha fallado varias veces; el registro del servidor dice por qué.");
      const problem = why ? `${why} Se intentará otra vez.` : "ha fallado; se intentará otra vez.";
      const again = { state: "waiting" as const, dueAt: clock.now() + retry, problem, processId: null };
      await this.#store(job, { ...again, ...(rules.every && { attempts: 0 }) });
    }
  }

  async #fail(job: JobRow, rules: JobRules, problem: string): Promise<void> {
    await rules.failed?.(job, problem);
    await this.#store(job, { state: "failed", problem, processId: null });
  }

  #toldOf(job: JobRow): Pick<JobAtWork, "progress" | "remember"> {
    let told = 0;
    return {
      progress: async (done, total) => {
        if (Date.now() - told < tellEvery) return;
        told = Date.now();
        await this.#store(job, { done, total });
      },
      remember: (data) => this.#store(job, { data }),
    };
  }

  /** Throws JobLost. */
  async #store(job: JobRow, changed: Partial<JobRow>): Promise<void> {
    const { db, clock, processes, changes } = this.#services;
    const { numUpdatedRows } = await db
      .updateTable("jobs")
      .set({ ...changed, updatedAt: clock.now() })
      .where("id", "=", job.id)
      .where("processId", "=", processes.id)
      .where("attempts", "=", job.attempts)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw new JobLost();
    if (job.userId && (changed.state || changed.done)) changes.tell({ userId: job.userId, what: "job" });
  }
}

const hasEnded = ({ state }: JobRow) => state === "done" || state === "failed";
