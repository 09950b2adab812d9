import { sql } from "kysely";
import type { Db } from "../engine.server.ts";
import { prepared } from "../prepared.server.ts";
import { currentPlan } from "./plans.server.ts";

/** Bytes that a person uses: files, replies that were read aloud, responses of programs, texts of messages, versions of artifacts, and files of skills. */
export async function storedBytes(db: Db, userId: string): Promise<number> {
  const { rows } = await sumBytes(db, { userId });
  return rows.reduce((sum, { bytes }) => sum + Number(bytes), 0);
}

const sumBytes = prepared((db, { userId }: { userId: string }) => {
  const sum = sql<number>`coalesce(sum(size), 0)`.as("bytes");
  return db
    .selectFrom("files")
    .where("userId", "=", userId)
    .select(sum)
    .unionAll(db.selectFrom("speeches").where("userId", "=", userId).select(sum))
    .unionAll(db.selectFrom("artifactVersions").where("userId", "=", userId).select(sum))
    .unionAll(db.selectFrom("skillFiles").where("userId", "=", userId).select(sum))
    .unionAll(db.selectFrom("responses").where("userId", "=", userId).select(sum))
    .unionAll(db.selectFrom("textUse").where("userId", "=", userId).select("bytes"));
});

/** The plan's limit in MB if `more` bytes would exceed it; undefined if they fit or there is no limit. */
export async function planWithoutRoom(db: Db, userId: string, more: number): Promise<number | undefined> {
  const plan = await currentPlan(db, userId, Date.now());
  if (plan?.storageMb == null) return undefined;
  return (await storedBytes(db, userId)) + more > plan.storageMb * 1024 * 1024 ? plan.storageMb : undefined;
}
