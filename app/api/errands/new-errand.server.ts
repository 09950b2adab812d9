import { isTaken } from "../../db/errors.server.ts";
import { newRow } from "../../db/rows.server.ts";
import type { ErrandRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import type { Person, Services } from "../env.server.ts";
import { invalid } from "../http/problem.server.ts";
import { goOn } from "../jobs/go-on.server.ts";
import { modelToUse } from "../models/models.server.ts";

export const errandPlaces = ["web", "documents"] as const;
export type ErrandPlace = (typeof errandPlaces)[number];

type NewErrand = Pick<ErrandRow, "question" | "budget" | "stepsAtMost" | "minutesAtMost"> & {
  modelId: string | undefined;
  looksIn: ErrandPlace[];
  notifies: boolean;
  /** Only for an errand that begins by itself once its plan is there: a name of its occasion, which has one errand only. */
  key?: string;
};

/** Bounds of an errand that nobody has set. */
export const usualBounds = { budget: null, stepsAtMost: 60, minutesAtMost: 60 };

async function refuseTooMany({ db }: Services, userId: string): Promise<void> {
  const { count } = await db
    .selectFrom("errands")
    .where("userId", "=", userId)
    .where((e) => e.or([e("key", "is", null), e("key", "not like", `${ofRow("")}%`)]))
    .select((e) => e.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  if (Number(count) >= limits.errands) {
    throw invalid("question", `Ya tienes ${limits.errands} encargos. Elimina alguno.`);
  }
}

/** Stores an errand and has its plan made; if an errand has the same key already, returns that errand. Throws 422. */
export async function storeErrand(
  services: Services,
  person: Person,
  { modelId: wanted, looksIn, notifies, key, ...given }: NewErrand,
): Promise<ErrandRow> {
  const { db, jobs } = services;
  const before = key && (await errandOf(services, person.id, key));
  if (before) return before;
  // The errands of a series are not limited: each row has one.
  if (!key?.startsWith(ofRow(""))) await refuseTooMany(services, person.id);
  const modelId = await errandModel(services, person, wanted);
  const now = Date.now();
  const row: ErrandRow = {
    ...{ ...newRow(now), userId: person.id, modelId, artifactId: null },
    ...{ title: given.question.replace(/\s+/g, " ").trim().slice(0, limits.chatTitle).toWellFormed(), ...given },
    ...{ plan: "[]", looksIn: JSON.stringify([...new Set(looksIn)]), notifies: notifies ? 1 : 0 },
    ...{ state: "planning", problem: null, workedMs: 0, taken: 0, spent: 0 },
    ...{ startsItself: key ? 1 : 0, key: key ?? null },
  };
  try {
    await db.transaction().execute(async (trx) => {
      await trx.insertInto("errands").values(row).execute();
      await jobs.add({ kind: "errand", userId: row.userId, subjectId: row.id }, trx);
    });
  } catch (error) {
    const twin = isTaken(error) && key ? await errandOf(services, person.id, key) : undefined;
    if (!twin) throw error;
    return twin;
  }
  jobs.wake("errand");
  return row;
}

/** Key of the errand of a row in a series. */
export const ofRow = (questionId: string): string => `row:${questionId}`;

const errandOf = ({ db }: Services, userId: string, key: string) =>
  db.selectFrom("errands").where("userId", "=", userId).where("key", "=", key).selectAll().executeTakeFirst();

/** The id of a model that can work on errands. Throws 422. */
export async function errandModel(
  services: Pick<Services, "db">,
  person: Pick<Person, "id">,
  wanted: string | undefined,
): Promise<string> {
  const model = await modelToUse(services, person.id, wanted);
  if (model.provider === "local") throw invalid("modelId", "El Asistente local no hace encargos.");
  return model.id;
}

/**
 * Continues the series that the errand's row belongs to, or pauses the series if the errand waits for its person. Call this once the errand
 * no longer works; a repeated call does no harm.
 */
export async function goOnWithSeries(services: Services, { id }: Pick<ErrandRow, "id">): Promise<void> {
  const { db, changes } = services;
  const row = await db
    .selectFrom("batchQuestions")
    .innerJoin("batches", "batches.id", "batchQuestions.batchId")
    .innerJoin("errands", "errands.id", "batchQuestions.errandId")
    .where("batchQuestions.errandId", "=", id)
    .where("batches.state", "=", "running")
    .select(["batches.id", "batches.userId", "batchQuestions.position", "errands.state", "errands.problem"])
    .executeTakeFirst();
  if (!row) return;
  if (row.state !== "paused" && row.state !== "stopped") return goOn(services, "batch", row);
  const how = row.state === "stopped" ? "se ha parado." : `está en pausa. ${row.problem ?? ""}`;
  const problem = `El encargo de la fila ${Number(row.position) + 1} ${how}`.trim();
  const paused = { state: "paused" as const, problem, updatedAt: Date.now() };
  await db.updateTable("batches").set(paused).where("id", "=", row.id).where("state", "=", "running").execute();
  changes.tell({ userId: row.userId, what: "batch" });
}
