import { v7 as newId } from "uuid";
import { isTaken } from "../../db/errors.server.ts";
import type { ErrandRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import type { Person, Services } from "../env.server.ts";
import { invalid } from "../http/problem.server.ts";
import { goOn } from "../jobs/go-on.server.ts";
import { modelToUse } from "../models/models.server.ts";

export type ErrandPlace = "web" | "documents";

type NewErrand = Pick<ErrandRow, "question" | "budget" | "stepsAtMost" | "minutesAtMost"> & {
  modelId: string | undefined;
  looksIn: ErrandPlace[];
  notifies: boolean;
  /** Of an errand that begins once its plan is there: name of the occasion, of which there is one. */
  key?: string;
};

/** Bounds of an errand that nobody has set. */
export const usualBounds = { budget: null, stepsAtMost: 60, minutesAtMost: 60 };

/** Stores an errand and has its plan made; of two with the same key there is one. Throws 422. */
export async function storeErrand(
  services: Services,
  person: Person,
  { modelId: wanted, looksIn, notifies, key, ...given }: NewErrand,
): Promise<ErrandRow> {
  const { db } = services;
  // Those of a series are as many as its rows.
  const { count } = await db
    .selectFrom("errands")
    .where("userId", "=", person.id)
    .where((e) => e.or([e("key", "is", null), e("key", "not like", `${ofRow("")}%`)]))
    .select((e) => e.fn.countAll<number>().as("count"))
    .executeTakeFirstOrThrow();
  if (Number(count) >= limits.errands && !key?.startsWith(ofRow(""))) {
    throw invalid("question", `Ya tienes ${limits.errands} encargos. Elimina alguno.`);
  }
  const modelId = await errandModel(services, person, wanted);
  const now = Date.now();
  const row: ErrandRow = {
    ...{ id: newId(), createdAt: now, updatedAt: now, userId: person.id, modelId, artifactId: null },
    ...{ title: given.question.replace(/\s+/g, " ").trim().slice(0, limits.chatTitle).toWellFormed(), ...given },
    ...{ plan: "[]", looksIn: JSON.stringify([...new Set(looksIn)]), notifies: notifies ? 1 : 0 },
    ...{ state: "planning", problem: null, workedMs: 0, taken: 0, spent: 0 },
    ...{ startsItself: key ? 1 : 0, key: key ?? null },
  };
  try {
    await db.insertInto("errands").values(row).execute();
  } catch (error) {
    const twin = isTaken(error) && key ? await errandOf(services, person.id, key) : undefined;
    if (!twin) throw error;
    return twin;
  }
  await goOn(services, "errand", row);
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

/** Has the series go on whose row an errand is for. Call it once that is over, however. */
export async function goOnWithSeries(services: Services, { id }: Pick<ErrandRow, "id">): Promise<void> {
  const batch = await services.db
    .selectFrom("batchQuestions")
    .innerJoin("batches", "batches.id", "batchQuestions.batchId")
    .where("batchQuestions.errandId", "=", id)
    .where("batches.state", "=", "running")
    .select(["batches.id", "batches.userId"])
    .executeTakeFirst();
  if (batch) await goOn(services, "batch", batch);
}
