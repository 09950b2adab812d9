import type { Db } from "../../db/engine.server.ts";
import { newRow } from "../../db/rows.server.ts";
import type { MoveRow } from "../../db/tables.ts";

type Origin = Pick<MoveRow, "source" | "kind" | "externalId">;
type OwnKind = Exclude<MoveRow["kind"], "group">;

const tables = {
  project: "projects",
  template: "templates",
  assistant: "assistants",
  schedule: "schedules",
  skill: "skills",
} as const;

/** Id of somebody's own thing; undefined if it was deleted since, or is somebody else's. */
export async function findOwn(db: Db, userId: string, kind: OwnKind, id: string): Promise<string | undefined> {
  const own = db.selectFrom(tables[kind]).where("id", "=", id).where("userId", "=", userId);
  return (await own.select("id").executeTakeFirst())?.id;
}

/** Id here of a group that came from elsewhere; undefined if it has not come, or was deleted since. */
export async function findMovedGroup(db: Db, origin: Omit<Origin, "kind">): Promise<string | undefined> {
  const id = await ownIdOf(db, { ...origin, kind: "group" });
  return id && (await db.selectFrom("groups").where("id", "=", id).select("id").executeTakeFirst())?.id;
}

/** Id here of somebody's thing that came from elsewhere; undefined if it has not come, or was deleted since. */
export async function findMoved(
  db: Db,
  userId: string,
  origin: Origin & { kind: OwnKind },
): Promise<string | undefined> {
  const id = await ownIdOf(db, origin);
  return id && findOwn(db, userId, origin.kind, id);
}

async function ownIdOf(db: Db, { source, kind, externalId }: Origin): Promise<string | undefined> {
  const moved = await db
    .selectFrom("moves")
    .where("source", "=", source)
    .where("kind", "=", kind)
    .where("externalId", "=", externalId)
    .select("ownId")
    .executeTakeFirst();
  return moved?.ownId;
}

/** Stores the origin of a thing; if a deleted thing has come again, its new id replaces the old one. */
export async function keepMoved(db: Db, origin: Origin, ownId: string): Promise<void> {
  const now = Date.now();
  await db
    .insertInto("moves")
    .values({ ...newRow(now), ...origin, ownId })
    .onConflict((conflict) => conflict.columns(["source", "kind", "externalId"]).doUpdateSet({ ownId, updatedAt: now }))
    .execute();
}
