import { sql } from "kysely";
import { ArtifactRefused } from "../../artifacts/artifacts.server.ts";
import type { ErrandRow, ErrandStepRow } from "../../db/tables.ts";
import { type JobAtWork, JobFailed, type JobRules } from "../../jobs/jobs.server.ts";
import { LimitReached } from "../../replies/usage.server.ts";
import type { Services } from "../env.server.ts";
import { findPerson, refuseInactive } from "../http/authentication.server.ts";
import { Problem } from "../http/problem.server.ts";
import { modelToUse } from "../models/models.server.ts";
import { tellLimit } from "../webhooks/limit-reached.server.ts";
import { ModelFailed } from "./ask-model.server.ts";
import { makePlan } from "./make-plan.server.ts";
import { endErrand, takeStep } from "./steps.server.ts";

// In ms, after a model that has failed.
const retries = [30_000, 5 * 60_000];
/** How errands are worked on: a step after the other, each kept as it ends. A step that was cut off is taken again. */
export const workingOnErrands = (services: Services): JobRules => ({
  atOnce: 2,
  retries,
  work: (job) => work(services, job),
  async failed({ subjectId }, problem) {
    await services.db
      .updateTable("errands")
      .set({ state: "paused", problem: `No ha podido seguir: ${problem}` })
      .where("id", "=", subjectId)
      .where("state", "in", ["planning", "running"])
      .execute();
  },
});

/** Has an errand go on, in the background. */
export async function goOn({ db, jobs }: Services, { id, userId }: Pick<ErrandRow, "id" | "userId">): Promise<void> {
  const waiting = db.selectFrom("jobs").where("kind", "=", "errand").where("subjectId", "=", id);
  if (!(await waiting.where("state", "=", "waiting").select("id").executeTakeFirst())) {
    await jobs.add({ kind: "errand", userId, subjectId: id });
  }
  jobs.wake("errand");
}

/** One step in one job: others have their turn in between, and a death of the process counts against that step alone. */
async function work(services: Services, { subjectId, attempts, signal, progress }: JobAtWork): Promise<void> {
  // It may have been stopped, or deleted.
  const errand = await services.db
    .selectFrom("errands")
    .where("id", "=", subjectId)
    .where("state", "in", ["planning", "running"])
    .selectAll()
    .executeTakeFirst();
  if (!errand) return;
  try {
    const person = await findPerson(services, errand.userId);
    if (!person) return;
    refuseInactive(person);
    if (errand.modelId === null) return await pause(services, errand, "Su modelo ya no está. Elige otro para seguir.");
    const model = await modelToUse(services, errand.userId, errand.modelId);
    if (errand.state === "planning") return await makePlan(services, errand, model, signal);
    const step = await nextStep(services, errand);
    if (!step) return await endErrand(services, errand);
    const { done, all, cost } = await countSteps(services, errand);
    await progress(done, all);
    const limit = limitOf(errand, step, done, cost);
    if (limit) return await pause(services, errand, limit);
    await takeStep(services, { errand, step, model, signal });
  } catch (error) {
    // Too many replies at once: tried again in a while, as a failure is.
    if (error instanceof LimitReached && !error.ofPlan) throw error;
    if (error instanceof ModelFailed && attempts > retries.length) throw new JobFailed(error.message, { cause: error });
    const isToldOf = error instanceof LimitReached || error instanceof Problem || error instanceof ArtifactRefused;
    if (!isToldOf) throw error;
    if (error instanceof LimitReached) await tellLimit(services, errand.userId, error);
    return pause(services, errand, error.message);
  }
  await goOn(services, errand);
}

/** Why an errand may not go on; writing what there is may always. */
function limitOf(errand: ErrandRow, { kind }: ErrandStepRow, done: number, cost: number): string | undefined {
  if (errand.budget !== null && cost >= errand.budget) return "Se ha gastado lo que podía costar.";
  if (kind === "write" || kind === "join") return undefined;
  if (done >= errand.stepsAtMost) return `Ha dado los ${errand.stepsAtMost} pasos que podía dar.`;
  if (errand.workedMs >= errand.minutesAtMost * 60_000)
    return `Ha trabajado los ${errand.minutesAtMost} minutos que podía.`;
  return undefined;
}

async function pause({ db, changes }: Services, { id, userId }: ErrandRow, problem: string): Promise<void> {
  await db
    .updateTable("errands")
    .set({ state: "paused", problem, updatedAt: Date.now() })
    .where("id", "=", id)
    .where("state", "in", ["planning", "running"])
    .execute();
  changes.tell({ userId, what: "errand" });
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

/** Steps that are over and all there are, and what they have cost. */
export async function countSteps({ db }: Pick<Services, "db">, { id }: Pick<ErrandRow, "id">) {
  const counted = await db
    .selectFrom("errandSteps")
    .where("errandId", "=", id)
    .where("state", "!=", "skipped")
    .select([
      sql<number>`count(*)`.as("all"),
      sql<number>`coalesce(sum(case when state = 'waiting' then 0 else 1 end), 0)`.as("done"),
      sql<number>`coalesce(sum(cost), 0)`.as("cost"),
    ])
    .executeTakeFirstOrThrow();
  return { all: Number(counted.all), done: Number(counted.done), cost: Number(counted.cost) };
}

/** Has errands go on that nobody is working on: a restored copy and another engine have them without their jobs. */
export async function resumeErrands(services: Services): Promise<void> {
  const left = await services.db
    .selectFrom("errands")
    .where("state", "in", ["planning", "running"])
    .where((e) =>
      e.not(
        e.exists(
          e
            .selectFrom("jobs")
            .whereRef("jobs.subjectId", "=", "errands.id")
            .where("kind", "=", "errand")
            .where("jobs.state", "in", ["waiting", "running"])
            .select("jobs.id"),
        ),
      ),
    )
    .select(["id", "userId"])
    .execute();
  for (const errand of left) await goOn(services, errand);
}
