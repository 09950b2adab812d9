import { z } from "@hono/zod-openapi";
import type { Db } from "../../db/engine.server.ts";
import { textsIn } from "../../process/text/json.ts";
import { invalid } from "../http/problem.server.ts";
import { id } from "../http/schemas.server.ts";

/** How many groups one thing may be for. */
const most = 500;

/** The field of a thing that may be for some groups only: their ids; null: it is for everybody. */
export const groupIds = z
  .array(id, "groupIds tiene que ser una lista.")
  .max(most, `Son ${most} grupos como mucho.`)
  .transform((ids) => [...new Set(ids)])
  .nullable()
  .default(null)
  .openapi({ description: "Solo para las personas de estos grupos; null: para todas." });

/** The field `groupIds` in an answer. null is for everybody; an empty list, or a list whose groups are gone, only for administrators. */
export const shownGroupIds = z.array(z.string()).nullable();

export const parseGroupIds = ({ groupIds: stored }: { groupIds: string | null }): string[] | null =>
  stored === null ? null : textsIn(stored);

/** Throws 422 for a group that does not exist; those that `before` had already may be gone. */
export async function checkGroupIds(db: Db, given: string[] | null, before: string[] | null = null): Promise<void> {
  const added = (given ?? []).filter((one) => !before?.includes(one));
  if (added.length === 0) return;
  const found = await db.selectFrom("groups").where("id", "in", added).select("id").execute();
  const missing = added.find((one) => !found.some((group) => group.id === one));
  if (missing) throw invalid("groupIds", `No hay ningún grupo «${missing}».`);
}
