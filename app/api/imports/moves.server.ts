import { v7 as newId } from "uuid";
import type { Db } from "../../db/engine.server.ts";
import type { MoveRow } from "../../db/tables.ts";

type Origin = Pick<MoveRow, "source" | "kind" | "externalId">;

const tables = { project: "projects", template: "templates", assistant: "assistants", schedule: "schedules" } as const;

const thing = (db: Db, kind: MoveRow["kind"], id: string) => db.selectFrom(tables[kind]).where("id", "=", id);

/** Id here of a thing that came from elsewhere; undefined if it has not come, or was deleted since. */
export async function findMoved(db: Db, { source, kind, externalId }: Origin): Promise<string | undefined> {
  const moved = await db
    .selectFrom("moves")
    .where("source", "=", source)
    .where("kind", "=", kind)
    .where("externalId", "=", externalId)
    .select("ownId")
    .executeTakeFirst();
  return moved && (await thing(db, kind, moved.ownId).select("id").executeTakeFirst())?.id;
}

/** Id of somebody's own thing that an export of this house has; undefined if it was deleted since, or is of another house. */
export async function findOwn(db: Db, userId: string, kind: MoveRow["kind"], id: string): Promise<string | undefined> {
  return (await thing(db, kind, id).where("userId", "=", userId).select("id").executeTakeFirst())?.id;
}

/** Keeps where a thing comes from; of one that was deleted and has come again, the new id. */
export async function keepMoved(db: Db, origin: Origin, ownId: string): Promise<void> {
  const now = Date.now();
  await db
    .insertInto("moves")
    .values({ id: newId(), createdAt: now, updatedAt: now, ...origin, ownId })
    .onConflict((conflict) => conflict.columns(["source", "kind", "externalId"]).doUpdateSet({ ownId, updatedAt: now }))
    .execute();
}
