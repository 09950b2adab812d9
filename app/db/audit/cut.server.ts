import { storedJson } from "../../process/text/json.ts";
import type { Db } from "../engine.server.ts";
import type { Seal } from "./keys.server.ts";

/** Number of the first sealed row there is; undefined if there is none. */
export async function firstSealed(db: Db): Promise<number | undefined> {
  const first = await db.selectFrom("audit").where("seq", ">", 0).orderBy("seq").select("seq").executeTakeFirst();
  return first && Number(first.seq);
}

/**
 * The row before the first existing row, if retention has deleted it and a later row records that. Versions that signed no cuts left
 * only that record; it is trusted until the first signing key is made. undefined: no row is missing, or no record explains the gap.
 */
export async function cutBefore(db: Db): Promise<Seal | undefined> {
  const first = await firstSealed(db);
  if (first === undefined || first === 1) return;
  const deletions = await db
    .selectFrom("audit")
    .where("action", "=", "retention")
    .where("resource", "=", "audit")
    .where("seq", "is not", null)
    .orderBy("seq", "desc")
    .limit(50)
    .select("changes")
    .execute();
  for (const { changes } of deletions) {
    const { before } = storedJson<{ before?: { through?: Seal } }>(changes);
    // A deletion that broke off goes on within the hour.
    if (before?.through && before.through.seq >= first - 1) return before.through;
  }
}
