import type { ErrandRow, ModelRow } from "../../db/tables.ts";
import { askOnce, type Spent } from "../../replies/ask-once.server.ts";
import type { Services } from "../env.server.ts";

/** The model has failed or not answered; the message is the sentence for people. The step is taken again later. */
export class ModelFailed extends Error {
  override name = "ModelFailed";
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
  if (text === undefined) throw new ModelFailed(problem);
  return { text, ...spent };
}
