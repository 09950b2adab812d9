import type { Db } from "../db/engine.server.ts";
import { usableBy } from "../db/people/groups.server.ts";
import type { ModelRow } from "../db/tables.ts";
import { ReplyError } from "./errors.server.ts";

/** `fits`: whether a model can take what is asked; every one, if not given. */
type Failure = {
  model: ModelRow;
  userId: string;
  error: unknown;
  tried: Set<string>;
  fits?: (next: ModelRow) => boolean;
};

/**
 * The model that goes on for one that has failed before it wrote anything: the next in the chain that administrators have set, of those
 * that are enabled and that the person may use. Undefined at its end, and for what another model would refuse as well. `tried` takes
 * those that have been looked at, so that a ring ends.
 */
export async function nextInChain(
  db: Db,
  { model, userId, error, tried, fits = () => true }: Failure,
): Promise<ModelRow | undefined> {
  if (!(error instanceof ReplyError) || error.parameter !== undefined) return undefined;
  tried.add(model.id);
  for (let id = model.fallbackId; id !== null && !tried.has(id); ) {
    tried.add(id);
    const found = await db
      .selectFrom("models")
      .where("id", "=", id)
      .selectAll()
      .select((e) => e.and([e("enabled", "=", 1), usableBy("models", userId)]).as("usable"))
      .executeTakeFirst();
    // Deleted since the model before was read.
    if (!found) return undefined;
    const { usable, ...next } = found;
    if (usable && fits(next)) return inPlaceOf(model, next);
    id = next.fallbackId;
  }
  return undefined;
}

/** A model with what was asked of another: nothing is shown to it that was hidden from that. */
const inPlaceOf = (model: ModelRow, next: ModelRow): ModelRow => ({
  ...next,
  temperature: model.temperature ?? next.temperature,
  maxOutputTokens: Math.min(model.maxOutputTokens, next.maxOutputTokens),
  pseudonyms: model.pseudonyms === 1 ? 1 : next.pseudonyms,
});
