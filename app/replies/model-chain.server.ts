import type { Db } from "../db/engine.server.ts";
import { usableBy } from "../db/people/groups.server.ts";
import type { ModelRow } from "../db/tables.ts";
import { ReplyError } from "./errors.server.ts";

/** `fits`: whether a model can take the request; without it, every model can. */
type Failure = {
  model: ModelRow;
  userId: string;
  error: unknown;
  tried: Set<string>;
  fits?: (next: ModelRow) => boolean;
};

/**
 * The model that replaces one that has failed before it wrote anything: the next in the chain of the administrators that is enabled and
 * that the person may use. Undefined at the end of the chain, and for a request that another model would refuse as well. `tried` collects
 * the models that have been looked at, so that a circular chain ends.
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
    // The model was deleted after the one before it was read.
    if (!found) return undefined;
    const { usable, ...next } = found;
    if (usable && fits(next)) return inPlaceOf(model, next);
    id = next.fallbackId;
  }
  return undefined;
}

/** The replacement model with the settings of the failed one: identifiers hidden from that model stay hidden. */
const inPlaceOf = (model: ModelRow, next: ModelRow): ModelRow => ({
  ...next,
  temperature: model.temperature ?? next.temperature,
  maxOutputTokens: Math.min(model.maxOutputTokens, next.maxOutputTokens),
  pseudonyms: model.pseudonyms === 1 ? 1 : next.pseudonyms,
});
