import type { ErrandRow, ModelRow } from "../../db/tables.ts";
import { askOnce, type Spent } from "../../replies/ask-once.server.ts";
import type { Services } from "../env.server.ts";

/** The model has failed or not answered; the message is the sentence for people. The step is taken again later. */
export class ModelFailed extends Error {
  override name = "ModelFailed";
  readonly cost: number;

  constructor(problem: string, cost: number) {
    super(problem);
    this.cost = cost;
  }
}

// In ms, for one answer.
const patience = 5 * 60_000;

const usual =
  "Trabajas en un encargo: buscar, leer y escribir un informe con fuentes. Haces solo el paso que se te pide y contestas solo con lo pedido, sin saludos ni comentarios.";

/** Answer of the model of an errand, with what it has cost. Throws ModelFailed and LimitReached. */
export async function askModel(
  services: Services,
  { errand, model, signal }: { errand: ErrandRow; model: ModelRow; signal: AbortSignal },
  question: string,
  system = usual,
): Promise<{ text: string } & Spent> {
  const { userId } = errand;
  const { text, problem, ...spent } = await askOnce(services, { userId, model, system, question, signal, patience });
  if (text === undefined) throw new ModelFailed(problem, spent.cost);
  if (text === "") throw new ModelFailed("El modelo terminó sin escribir nada.", spent.cost);
  return { text, ...spent };
}
