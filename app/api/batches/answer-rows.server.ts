import { sql } from "kysely";
import type { BatchQuestionRow, BatchRow, ModelRow } from "../../db/tables.ts";
import type { JobAtWork, JobRules } from "../../jobs/jobs.server.ts";
import { limits } from "../../process/limits.ts";
import { filledIn } from "../../process/text/blanks.ts";
import { textsIn } from "../../process/text/json.ts";
import { askOnce } from "../../replies/ask-once.server.ts";
import { LimitReached } from "../../replies/usage.server.ts";
import type { Person, Services } from "../env.server.ts";
import { type ErrandPlace, goOnWithSeries, ofRow, storeErrand, usualBounds } from "../errands/new-errand.server.ts";
import { reportOf } from "../errands/report.server.ts";
import { findPerson, refuseInactive } from "../http/authentication.server.ts";
import { Problem } from "../http/problem.server.ts";
import { goOn } from "../jobs/go-on.server.ts";
import { modelToUse } from "../models/models.server.ts";
import { tellLimit } from "../webhooks/limit-reached.server.ts";

// Limits of one turn, in rows and in ms: after it, other waiting series go on first.
const rowsAtOnce = 20;
const turn = 60_000;
// In ms, for one row.
const patience = 5 * 60_000;
const failuresInARow = 5;

/** The job that answers batches: row after row, as far as the person's plan and the batch's budget go. A row cut off is asked again. */
export const answeringBatches = (services: Services): JobRules => ({
  atOnce: 2,
  retries: [30_000, 5 * 60_000],
  work: (job) => answerRows(services, job),
  async failed({ subjectId }, problem) {
    const paused = { state: "paused" as const, problem: `No ha podido seguir: ${problem}` };
    await services.db
      .updateTable("batches")
      .set(paused)
      .where("id", "=", subjectId)
      .where("state", "=", "running")
      .execute();
  },
});

async function answerRows(services: Services, { subjectId, signal, progress }: JobAtWork): Promise<void> {
  const { db, changes } = services;
  const find = () =>
    db.selectFrom("batches").where("id", "=", subjectId).where("state", "=", "running").selectAll().executeTakeFirst();
  const begun = Date.now();
  for (let answered = 0, failures = 0; ; answered++) {
    signal.throwIfAborted();
    // The batch may have been stopped, or deleted.
    const batch = await find();
    if (!batch) return;
    if (answered >= rowsAtOnce || (answered > 0 && Date.now() - begun > turn)) return goOn(services, "batch", batch);
    const end = (state: BatchRow["state"], problem: string | null = null) => store(services, batch, { state, problem });
    const row = await nextRow(services, batch);
    if (!row) return end("done");
    if (batch.budget !== null && (await spent(services, batch)) >= batch.budget) {
      return end("paused", "Se ha gastado lo que podía costar.");
    }
    await progress(row.position, batch.total);
    try {
      const person = await findPerson(services, batch.userId);
      if (!person) return;
      refuseInactive(person);
      // The batch's model is gone: nobody has chosen another one.
      if (batch.modelId === null)
        return end("paused", "Su modelo ya no está. Empieza otra serie con las filas que faltan.");
      const model = await modelToUse(services, batch.userId, batch.modelId);
      const came = batch.looksIn
        ? await errandOf(services, person, batch, row)
        : await answerTo(services, batch, row, model, signal);
      // The errand is at work: its end continues the series.
      if (!came) return;
      failures = came.state === "failed" ? failures + 1 : 0;
      await db
        .updateTable("batchQuestions")
        .set({ ...came, updatedAt: Date.now() })
        .where("id", "=", row.id)
        .execute();
      changes.tell({ userId: batch.userId, what: "batch" });
      if (failures === failuresInARow)
        return end("paused", `Han fallado ${failuresInARow} filas seguidas. ${came.problem}`);
    } catch (error) {
      // Too many replies run at once: the job tries again in a while, as after a failure.
      if (error instanceof LimitReached && !error.ofPlan) throw error;
      if (!(error instanceof LimitReached || error instanceof Problem)) throw error;
      if (error instanceof LimitReached) await tellLimit(services, batch.userId, error);
      return end("paused", error.message);
    }
  }
}

async function store({ db, changes }: Services, { id, userId }: BatchRow, change: Partial<BatchRow>): Promise<void> {
  await db
    .updateTable("batches")
    .set({ ...change, updatedAt: Date.now() })
    .where("id", "=", id)
    .where("state", "=", "running")
    .execute();
  changes.tell({ userId, what: "batch" });
}

const nextRow = ({ db }: Services, { id }: BatchRow): Promise<BatchQuestionRow | undefined> =>
  db
    .selectFrom("batchQuestions")
    .where("batchId", "=", id)
    .where("state", "=", "waiting")
    .orderBy("position")
    .limit(1)
    .selectAll()
    .executeTakeFirst();

/** Cost of a series so far. */
export async function spent({ db }: Services, { id }: BatchRow): Promise<number> {
  const { cost } = await db
    .selectFrom("batchQuestions")
    .where("batchId", "=", id)
    .select(sql<number>`coalesce(sum(cost), 0)`.as("cost"))
    .executeTakeFirstOrThrow();
  return Number(cost);
}

/** Outcome of the errand of one row; begins the errand if there is none. Returns undefined while the errand works or rests. Throws 422. */
async function errandOf(
  services: Services,
  person: Person,
  batch: BatchRow,
  row: BatchQuestionRow,
): Promise<Came | undefined> {
  const { db } = services;
  const question = questionOf(batch, row);
  const uncounted = { inputTokens: null, outputTokens: null, cost: row.cost };
  if (question.trim() === "") return { ...failedRow("Con sus datos, la pregunta está vacía."), ...uncounted };
  if (question.length > limits.message) {
    return { ...failedRow("Con sus datos, la pregunta es demasiado larga."), ...uncounted };
  }
  let id = row.errandId;
  if (!id) {
    const left = batch.budget === null ? null : batch.budget - (await spent(services, batch));
    const places = textsIn<ErrandPlace>(batch.looksIn ?? "[]");
    const given = { question, budget: left, modelId: batch.modelId ?? undefined, looksIn: places };
    ({ id } = await storeErrand(services, person, { ...usualBounds, ...given, notifies: false, key: ofRow(row.id) }));
    await db.updateTable("batchQuestions").set({ errandId: id }).where("id", "=", row.id).execute();
  }
  // The errand is read only now, as from now on its end finds the series.
  const errand = await db.selectFrom("errands").where("id", "=", id).selectAll().executeTakeFirst();
  if (!errand) return { ...failedRow("Se ha eliminado su encargo."), ...uncounted };
  const cost = Number(errand.spent);
  if (errand.state === "done") {
    const answer = await reportOf(services, errand);
    return { state: "done", answer, problem: null, inputTokens: null, outputTokens: null, cost };
  }
  // An errand that rests pauses its series, even if it came to rest before its id was stored in the row.
  if (errand.state === "paused" || errand.state === "stopped") await goOnWithSeries(services, errand);
  return undefined;
}

type Came = Pick<BatchQuestionRow, "state" | "answer" | "problem" | "inputTokens" | "outputTokens" | "cost">;

/** Outcome of asking a model about one row, with what it has cost so far. Throws LimitReached before anything is asked. */
async function answerTo(
  services: Services,
  batch: BatchRow,
  row: BatchQuestionRow,
  model: ModelRow,
  stopped: AbortSignal,
): Promise<Came> {
  const question = questionOf(batch, row);
  if (question.length > limits.message) {
    const { inputTokens, outputTokens, cost } = row;
    return { ...failedRow("Con sus datos, la pregunta es demasiado larga."), inputTokens, outputTokens, cost };
  }
  const { userId } = batch;
  const { text, problem, ...spent } = await askOnce(services, { userId, model, question, signal: stopped, patience });
  return {
    ...(text === undefined ? failedRow(problem) : { state: "done" as const, answer: text, problem: null }),
    inputTokens: (row.inputTokens ?? 0) + spent.inputTokens,
    outputTokens: (row.outputTokens ?? 0) + spent.outputTokens,
    cost: (row.cost ?? 0) + spent.cost,
  };
}

const failedRow = (problem: string) => ({ state: "failed" as const, answer: null, problem });

/** The template with the values of a row. An empty cell is a blank that somebody has left empty. */
function questionOf({ content, columns }: BatchRow, { cells }: BatchQuestionRow): string {
  const names = textsIn(columns);
  const values = textsIn(cells);
  return filledIn(content, (name) => values[names.indexOf(columnName(name))] ?? "");
}

/** One form of a column's name, so that templates and tables match, however letters and spaces are written. */
export const columnName = (name: string): string => name.normalize("NFC").replace(/\s+/g, " ").trim();
