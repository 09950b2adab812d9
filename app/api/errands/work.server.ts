import { sql } from "kysely";
import { ArtifactRefused } from "../../artifacts/artifacts.server.ts";
import type { ErrandRow, ErrandStepRow } from "../../db/tables.ts";
import { type JobAtWork, JobFailed, type JobRules } from "../../jobs/jobs.server.ts";
import { LimitReached } from "../../replies/usage.server.ts";
import type { Services } from "../env.server.ts";
import { findPerson, refuseInactive } from "../http/authentication.server.ts";
import { Problem } from "../http/problem.server.ts";
import { goOn } from "../jobs/go-on.server.ts";
import { modelToUse } from "../models/models.server.ts";
import { tellLimit } from "../webhooks/limit-reached.server.ts";
import { ModelFailed } from "./ask-model.server.ts";
import { makePlan } from "./make-plan.server.ts";
import { goOnWithSeries } from "./new-errand.server.ts";
import { endErrand } from "./report.server.ts";
import { takeStep } from "./steps.server.ts";
import { tellByMail } from "./tell-by-mail.server.ts";

// In ms, after a model that has failed.
const retries = [30_000, 5 * 60_000];
/** The job that works on errands: one step after another, each stored when it ends. An interrupted step is taken again. */
export const workingOnErrands = (services: Services): JobRules => ({
  atOnce: 2,
  retries,
  work: (job) => work(services, job),
  async failed({ subjectId, userId }, problem) {
    if (userId) await pause(services, { id: subjectId ?? "", userId }, `No ha podido seguir: ${problem}`);
  },
});

/** One step in one job: others have their turn in between, and a death of the process counts against that step alone. */
async function work(services: Services, { subjectId, attempts, signal, progress }: JobAtWork): Promise<void> {
  // The errand may have been stopped, or deleted.
  const errand = await services.db
    .selectFrom("errands")
    .where("id", "=", subjectId)
    .where("state", "in", ["planning", "running"])
    .selectAll()
    .executeTakeFirst();
  // The process may have died before its series went on.
  if (!errand) return goOnWithSeries(services, { id: subjectId ?? "" });
  const begun = Date.now();
  try {
    const person = await findPerson(services, errand.userId);
    if (!person) return;
    refuseInactive(person);
    if (errand.modelId === null) return await pause(services, errand, "Su modelo ya no está. Elige otro para seguir.");
    const model = await modelToUse(services, errand.userId, errand.modelId);
    if (errand.state === "planning") return await makePlan(services, errand, model, signal);
    const step = await nextStep(services, errand);
    if (!step) return await endErrand(services, errand);
    const { done, all } = await countSteps(services, errand);
    await progress(done, all);
    const limit = limitOf(errand, step);
    if (limit) return await pause(services, errand, limit);
    await takeStep(services, { errand, step, model, signal });
  } catch (error) {
    if (error instanceof ModelFailed) await tellFailure(services, errand, error, Date.now() - begun);
    const isOver = attempts > retries.length;
    // A failed model is tried again in a while; so are too many replies at once.
    const passes = error instanceof ModelFailed || (error instanceof LimitReached && !error.ofPlan);
    if (passes) throw isOver ? new JobFailed(error.message, { cause: error }) : error;
    const isToldOf = error instanceof LimitReached || error instanceof Problem || error instanceof ArtifactRefused;
    if (!isToldOf) throw error;
    if (error instanceof LimitReached) await tellLimit(services, errand.userId, error);
    return pause(services, errand, error.message);
  }
  await goOn(services, "errand", errand);
}

/** The reason why an errand may not look further; writing the results so far is always allowed. */
function limitOf({ budget, spent, taken, stepsAtMost, workedMs, minutesAtMost }: ErrandRow, { kind }: ErrandStepRow) {
  if (kind === "write" || kind === "join") return undefined;
  if (budget !== null && Number(spent) >= budget) return "Se ha gastado lo que podía costar.";
  if (Number(taken) >= stepsAtMost) return `Ha dado los ${stepsAtMost} pasos que podía dar.`;
  return Number(workedMs) >= minutesAtMost * 60_000
    ? `Ha trabajado los ${minutesAtMost} minutos que podía.`
    : undefined;
}

/** Adds the cost of a failure to the errand, and shows the failure until the step is tried again. */
async function tellFailure({ db, changes }: Services, { id, userId }: ErrandRow, failed: ModelFailed, ms: number) {
  await db
    .updateTable("errands")
    .set((e) => ({
      spent: e("spent", "+", failed.cost),
      workedMs: e("workedMs", "+", ms),
      problem: `${failed.message} Se intentará otra vez.`,
    }))
    .where("id", "=", id)
    .execute();
  changes.tell({ userId, what: "errand" });
}

type Owned = Pick<ErrandRow, "id" | "userId">;

/** Pauses an errand, which waits for its person: they are told. */
async function pause(services: Services, { id, userId }: Owned, problem: string): Promise<void> {
  const paused = await services.db
    .updateTable("errands")
    .set({ state: "paused", problem, updatedAt: Date.now() })
    .where("id", "=", id)
    .where("state", "in", ["planning", "running"])
    .returningAll()
    .executeTakeFirst();
  services.changes.tell({ userId, what: "errand" });
  if (paused) await tellByMail(services, paused, `está en pausa. ${problem}`);
  await goOnWithSeries(services, { id });
}

const nextStep = ({ db }: Services, { id }: ErrandRow): Promise<ErrandStepRow | undefined> =>
  db
    .selectFrom("errandSteps")
    .where("errandId", "=", id)
    .where("state", "=", "waiting")
    .orderBy("part")
    .orderBy("stage")
    .orderBy("position")
    .limit(1)
    .selectAll()
    .executeTakeFirst();

/** Numbers of finished steps, and of all that are not skipped. */
export async function countSteps({ db }: Pick<Services, "db">, { id }: Pick<ErrandRow, "id">) {
  const counted = await db
    .selectFrom("errandSteps")
    .where("errandId", "=", id)
    .where("state", "!=", "skipped")
    .select([
      sql<number>`count(*)`.as("all"),
      sql<number>`coalesce(sum(case when state = 'waiting' then 0 else 1 end), 0)`.as("done"),
    ])
    .executeTakeFirstOrThrow();
  return { all: Number(counted.all), done: Number(counted.done) };
}
