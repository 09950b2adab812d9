import type { ErrandRow, ModelRow } from "../../db/tables.ts";
import { limits } from "../../process/limits.ts";
import type { Services } from "../env.server.ts";
import { goOn } from "../jobs/go-on.server.ts";
import { askModel } from "./ask-model.server.ts";
import { planIn, titleIn } from "./plan.server.ts";
import { planSteps } from "./plan-steps.server.ts";
import { tellByMail } from "./tell-by-mail.server.ts";

const instructions = `Preparas el plan de un encargo: una pregunta que se contesta buscando, leyendo y escribiendo un informe. Contesta solo con un objeto JSON, sin nada más:
{"titulo": "título breve del informe", "partes": [{"titulo": "de qué trata la parte", "busquedas": ["palabras para un buscador", "otras"]}]}
Entre dos y cinco partes que juntas contesten la pregunta y no se repitan, con una o dos búsquedas cada una (${limits.errandSearches} como mucho). En el idioma de la pregunta.`;

/** Asks the model for the plan of an errand, which then waits for its person, or begins. Throws ModelFailed and LimitReached. */
export async function makePlan(
  services: Services,
  errand: ErrandRow,
  model: ModelRow,
  signal: AbortSignal,
): Promise<void> {
  const { id, userId, question } = errand;
  const startsItself = Number(errand.startsItself) === 1;
  const { text, cost } = await askModel(services, { errand, model, signal }, question, instructions);
  const parts = planIn(text, question);
  const plan = JSON.stringify(parts);
  const title = titleIn(text) || errand.title;
  const state = startsItself ? ("running" as const) : ("planned" as const);
  const planned = await services.db.transaction().execute(async (trx) => {
    const row = await trx
      .updateTable("errands")
      .set((e) => ({ title, plan, state, problem: null, spent: e("spent", "+", cost), updatedAt: Date.now() }))
      .where("id", "=", id)
      .where("state", "=", "planning")
      .returningAll()
      .executeTakeFirst();
    if (row && startsItself) await planSteps(trx, row, [], parts);
    return row;
  });
  if (planned && startsItself) await goOn(services, "errand", planned);
  else if (planned) await tellByMail(services, planned, "tiene un plan que espera tu visto bueno.");
  services.changes.tell({ userId, what: "errand" });
}
