import { type RawBuilder, sql } from "kysely";
import type { Db } from "../db/engine.server.ts";
import type { RetentionRow } from "../db/tables.ts";

const day = 24 * 60 * 60_000;

type Rule = Pick<RetentionRow, "kind" | "days" | "groupId" | "keepsPinned">;

/** Time before which a rule deletes rows. */
export const cutoffOf = ({ days }: Pick<RetentionRow, "days">, now: number) => now - days * day;

/** Condition: nobody has suspended deletion for the person in this column. */
export const notOnHold = (column: string): RawBuilder<boolean> =>
  sql<boolean>`not exists (select 1 from holds where holds."userId" = ${sql.ref(column)})`;

const inGroup = (column: string, groupId: string | null): RawBuilder<boolean> =>
  groupId === null
    ? sql<boolean>`true`
    : sql<boolean>`exists (select 1 from members where members."userId" = ${sql.ref(column)} and members."groupId" = ${groupId})`;

/** The chats that a rule deletes; not temporary ones, which end with their session, nor those in which a reply is being written. */
export const dueChats = (db: Db, { groupId, keepsPinned, ...rule }: Rule, now: number) =>
  db
    .selectFrom("chats")
    .where("lastMessageAt", "<", cutoffOf(rule, now))
    .where("sessionId", "is", null)
    .where(notOnHold("chats.userId"))
    .where((e) =>
      e.not(
        e.exists(
          e
            .selectFrom("messages")
            .whereRef("messages.chatId", "=", "chats.id")
            .where("messages.status", "=", "streaming")
            .select("messages.id"),
        ),
      ),
    )
    .$if(keepsPinned === 1, (q) => q.where("pinned", "=", 0))
    .where(inGroup("chats.userId", groupId));

/** Questions in series that a rule for chats deletes: they are conversations, too. */
export const dueBatches = (db: Db, { groupId, ...rule }: Rule, now: number) =>
  db
    .selectFrom("batches")
    .where("updatedAt", "<", cutoffOf(rule, now))
    .where("state", "!=", "running")
    .where(notOnHold("batches.userId"))
    .where(inGroup("batches.userId", groupId));

/** Errands that a rule for chats deletes; the artifacts that they have made fall under a rule for files. */
export const dueErrands = (db: Db, { groupId, ...rule }: Rule, now: number) =>
  db
    .selectFrom("errands")
    .where("updatedAt", "<", cutoffOf(rule, now))
    .where("state", "not in", ["running", "planning"])
    .where(notOnHold("errands.userId"))
    .where(inGroup("errands.userId", groupId));

/** Artifacts that a rule for files deletes, with their versions: nobody has changed them for the days of the rule. */
export const dueArtifacts = (db: Db, { groupId, ...rule }: Rule, now: number) =>
  db
    .selectFrom("artifacts")
    .where("updatedAt", "<", cutoffOf(rule, now))
    .where("sessionId", "is", null)
    .where(notOnHold("artifacts.userId"))
    .where(inGroup("artifacts.userId", groupId));

/**
 * The files that a rule deletes; messages keep the names of these files. A file of a connected folder is deleted in its folder, and the
 * file of an artifact with its artifact.
 */
export const dueFiles = (db: Db, { groupId, ...rule }: Rule, now: number) =>
  db
    .selectFrom("files")
    .where("createdAt", "<", cutoffOf(rule, now))
    .where("temporary", "=", 0)
    .where("folderId", "is", null)
    .where("sessionId", "is", null)
    .where(sql<boolean>`not exists (select 1 from artifacts where artifacts."fileId" = files.id)`)
    .where(notOnHold("files.userId"))
    .where(inGroup("files.userId", groupId));

/** The days of use that a rule deletes. */
export const dueUsage = (db: Db, { groupId, ...rule }: Rule, now: number) =>
  db
    .selectFrom("usage")
    .where("day", "<", new Date(cutoffOf(rule, now)).toISOString().slice(0, 10))
    .where(notOnHold("usage.userId"))
    .where(inGroup("usage.userId", groupId));

/** Days that the audit trail is kept at least, whatever a rule says: a rule written straight into the database cuts no more either. */
export const auditKept = 60;

/**
 * The last row of the audit trail that a rule deletes, with all before it; undefined if none. The trail is a chain: it is cut at
 * its beginning only, before the first row that is young enough or about a person whose things may not be deleted, and the last
 * sealed row stays.
 */
export async function dueAudit(db: Db, rule: Rule, now: number): Promise<{ seq: number; hash: string } | undefined> {
  const sealed = db.selectFrom("audit").where("seq", "is not", null);
  const stays = await sealed
    .where((e) =>
      e.or([
        e("createdAt", ">=", cutoffOf({ ...rule, days: Math.max(rule.days, auditKept) }, now)),
        e("actorId", "in", e.selectFrom("holds").select("userId")),
        e("ownerId", "in", e.selectFrom("holds").select("userId")),
      ]),
    )
    .orderBy("seq")
    .select("seq")
    .limit(1)
    .executeTakeFirst();
  const row = await sealed
    .$if(stays !== undefined, (q) => q.where("seq", "<", stays?.seq ?? 0))
    .where("seq", "<", (e) => e.selectFrom("audit").select((f) => f.fn.max("seq").as("last")))
    .orderBy("seq", "desc")
    .select(["seq", "hash"])
    .limit(1)
    .executeTakeFirst();
  return row ? { seq: Number(row.seq), hash: row.hash ?? "" } : undefined;
}
