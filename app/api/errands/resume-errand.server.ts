import type { Trx } from "../../db/engine.server.ts";
import type { ErrandRow } from "../../db/tables.ts";
import type { Services } from "../env.server.ts";
import { Problem } from "../http/problem.server.ts";
import { goOn } from "../jobs/go-on.server.ts";
import { storedPlan } from "./plan.server.ts";
import { planSteps } from "./plan-steps.server.ts";

/**
 * Starts an errand, or continues it where it was; failed and skipped steps are taken again. `finish`: the report is written from the
 * results so far, without looking further. `budget`: the errand's cost limit from now on. Throws 409.
 */
export async function resumeErrand(
  services: Services,
  row: ErrandRow,
  { finish = false, budget = row.budget }: { finish?: boolean; budget?: number | null } = {},
): Promise<void> {
  const plan = storedPlan(row);
  await services.db.transaction().execute(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable("errands")
      // An errand whose plan could not be made has no plan.
      .set({ state: plan.length > 0 ? "running" : "planning", budget, problem: null, updatedAt: Date.now() })
      .where("id", "=", row.id)
      .where("state", "=", row.state)
      // Its plan may have been changed meanwhile.
      .where("updatedAt", "=", row.updatedAt)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw new Problem(409, "Ha cambiado mientras tanto. Míralo otra vez.");
    if (row.state === "planned") await planSteps(trx, row, [], plan);
    const steps = trx.updateTable("errandSteps").where("errandId", "=", row.id);
    const reading = steps.where("state", "=", "waiting").where("kind", "in", ["search", "read", "more"]);
    if (finish) await reading.set({ state: "skipped" }).execute();
    else await takeAgain(trx, row.id);
    const left = trx.selectFrom("errandSteps").where("errandId", "=", row.id).where("state", "=", "waiting");
    // An errand that was stopped after its last step still has to keep its report.
    if (row.state === "done" && !(await left.select("id").limit(1).executeTakeFirst())) {
      throw new Problem(409, "No queda nada por hacer.");
    }
  });
  await goOn(services, "errand", row);
}

/** Has failed and skipped steps taken again, and the texts that are based on them written again. */
async function takeAgain(trx: Trx, errandId: string): Promise<void> {
  const wanted = trx
    .selectFrom("errandSteps")
    .where("errandId", "=", errandId)
    .where("state", "in", ["failed", "skipped"]);
  const parts = await wanted.select("part").distinct().execute();
  if (parts.length === 0) return;
  const steps = trx
    .updateTable("errandSteps")
    .set({ state: "waiting", problem: null })
    .where("errandId", "=", errandId);
  await steps.where("state", "in", ["failed", "skipped"]).execute();
  const written = steps.where("kind", "in", ["more", "write"]);
  await written
    .where(
      "part",
      "in",
      parts.map(({ part }) => part),
    )
    .execute();
  await steps.where("kind", "=", "join").execute();
}
