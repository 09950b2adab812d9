import type { Trx } from "../../db/engine.server.ts";
import { newRow } from "../../db/rows.server.ts";
import type { ErrandRow, ErrandStepRow } from "../../db/tables.ts";
import type { Plan } from "./plan.server.ts";

/** Stages of a part: a later search has the same stage as the first ones, so that it comes before the part is written. */
export const stages = { search: 1, read: 2, more: 3, write: 4, join: 5 } as const;

/**
 * Replaces the steps of the previous plan with the steps of a new plan. Finished steps stay with the part of the same title; the steps of a
 * removed part are deleted, and a part with other searches is written again.
 */
export async function planSteps(
  trx: Trx,
  { id: errandId, userId }: Pick<ErrandRow, "id" | "userId">,
  before: Plan,
  plan: Plan,
): Promise<void> {
  const own = trx.deleteFrom("errandSteps").where("errandId", "=", errandId);
  await own.where("kind", "!=", "read").where("state", "in", ["waiting", "skipped"]).execute();
  await own.where("kind", "=", "join").execute();
  const again = trx.updateTable("errandSteps").set({ state: "waiting" }).where("errandId", "=", errandId);
  await again.where("kind", "=", "read").where("state", "=", "skipped").execute();
  for (const [part, { title, searches }] of before.entries()) {
    const now = plan.findIndex((one) => one.title === title);
    if (now < 0) await own.where("part", "=", part).execute();
    else if (plan[now]?.searches.join("\n") !== searches.join("\n")) {
      await own.where("part", "=", part).where("kind", "in", ["more", "write"]).execute();
    }
    // Parts first get numbers beyond all other parts, so that no part takes the number of another.
    const moved = trx.updateTable("errandSteps").set({ part: now + beyond });
    await moved.where("errandId", "=", errandId).where("part", "=", part).execute();
  }
  await trx
    .updateTable("errandSteps")
    .set((e) => ({ part: e("part", "-", beyond) }))
    .where("errandId", "=", errandId)
    .where("part", ">=", beyond)
    .execute();
  const over = await trx
    .selectFrom("errandSteps")
    .where("errandId", "=", errandId)
    .select(["part", "kind", "input"])
    .execute();
  const isOver = (one: NewStep) =>
    over.some(({ part, kind, input }) => Number(part) === one.part && kind === one.kind && input === one.input);
  const wanted = plan.flatMap(({ title, searches }, part) => [
    ...searches.map((input) => ({ part, kind: "search" as const, input })),
    { part, kind: "more" as const, input: title },
    { part, kind: "write" as const, input: title },
  ]);
  const steps = [...wanted, { part: plan.length, kind: "join" as const, input: "" }].filter((one) => !isOver(one));
  await addSteps(trx, { errandId, userId }, steps);
}

const beyond = 1_000;

type NewStep = Pick<ErrandStepRow, "part" | "kind" | "input">;

/** Adds steps that wait, in this order. */
export async function addSteps(
  trx: Trx,
  { errandId, userId }: { errandId: string; userId: string },
  steps: NewStep[],
): Promise<void> {
  if (steps.length === 0) return;
  const now = Date.now();
  const { last } = await trx
    .selectFrom("errandSteps")
    .where("errandId", "=", errandId)
    .select((e) => e.fn.max("position").as("last"))
    .executeTakeFirstOrThrow();
  const rows = steps.map(
    (step, n): ErrandStepRow => ({
      ...{ ...newRow(now), userId, errandId, ...step },
      ...{ stage: stages[step.kind], position: Number(last ?? 0) + n + 1, state: "waiting" },
      ...{ text: null, problem: null, source: null, inputTokens: null, outputTokens: null, cost: null },
    }),
  );
  await trx.insertInto("errandSteps").values(rows).execute();
}
