import { setTimeout } from "node:timers/promises";
import { appendAudit } from "../db/audit/append.server.ts";
import { allowCut } from "../db/audit/seal.server.ts";
import type { Db, Engine, Trx } from "../db/engine.server.ts";
import type { RetentionRow } from "../db/tables.ts";
import type { Files } from "../files/files.server.ts";
import type { Changes } from "../realtime/changes.server.ts";
import { dueArtifacts, dueAudit, dueBatches, dueChats, dueErrands, dueFiles, dueUsage } from "./due.server.ts";

type RetentionServices = { db: Db; engine: Engine; auditKey: Buffer; files: Files; changes: Changes };

// Rows that one step deletes, and the pause between two steps in ms: people who write meanwhile wait for one step at most.
const atOnce = 50;
const rest = 20;

/**
 * Deletes the rows that the rules name, in small steps, and records each deletion in the audit trail. Several processes may do so
 * at the same time: each records only its own deletions. Stops between two steps once `signal` is aborted.
 */
export async function deleteDue(services: RetentionServices, now: number, signal: AbortSignal): Promise<void> {
  const rules = await services.db.selectFrom("retentions").where("startsAt", "<=", now).selectAll().execute();
  for (const rule of rules) {
    while (!signal.aborted && (await deletions[rule.kind](services, rule, now)) === atOnce) await setTimeout(rest);
  }
}

/** Each function deletes due rows of its kind, and returns `atOnce` if more may be due. */
const deletions: Record<
  RetentionRow["kind"],
  (services: RetentionServices, rule: RetentionRow, now: number) => Promise<number>
> = { chats: deleteChats, files: deleteFiles, usage: deleteUsage, audit: deleteAudit };

async function deleteChats({ db, changes }: RetentionServices, rule: RetentionRow, now: number): Promise<number> {
  const gone = await db.transaction().execute(async (trx) => {
    const due = dueChats(trx, rule, now).orderBy("lastMessageAt").select("id").limit(atOnce);
    const deleted = await trx.deleteFrom("chats").where("id", "in", due).returning(["id", "userId"]).execute();
    await tell(trx, rule, "chat", deleted);
    const series = dueBatches(trx, rule, now).select("id").limit(atOnce);
    const ended = await trx.deleteFrom("batches").where("id", "in", series).returning(["id", "userId"]).execute();
    await tell(trx, rule, "batch", ended);
    const errands = dueErrands(trx, rule, now).select("id").limit(atOnce);
    const gone = await trx.deleteFrom("errands").where("id", "in", errands).returning(["id", "userId"]).execute();
    await tell(trx, rule, "errand", gone);
    return { chats: deleted, others: Math.max(ended.length, gone.length) };
  });
  for (const userId of new Set(gone.chats.map((chat) => chat.userId))) changes.tell({ userId, what: "chat" });
  return Math.max(gone.chats.length, gone.others);
}

async function deleteFiles({ db, files }: RetentionServices, rule: RetentionRow, now: number): Promise<number> {
  const gone = await db.transaction().execute(async (trx) => {
    const due = dueFiles(trx, rule, now).orderBy("createdAt").select("id").limit(atOnce);
    const deleted = await trx.deleteFrom("files").where("id", "in", due).returning(["id", "userId"]).execute();
    await tell(trx, rule, "file", deleted);
    const old = dueArtifacts(trx, rule, now).select("id").limit(atOnce);
    const written = await trx
      .deleteFrom("artifacts")
      .where("id", "in", old)
      .returning(["id", "userId", "fileId"])
      .execute();
    await tell(trx, rule, "artifact", written);
    return { files: deleted.map(({ id }) => id), artifacts: written };
  });
  await files.delete([...gone.files, ...gone.artifacts.flatMap(({ fileId }) => fileId ?? [])]);
  return Math.max(gone.files.length, gone.artifacts.length);
}

async function deleteUsage({ db }: RetentionServices, rule: RetentionRow, now: number): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const due = dueUsage(trx, rule, now).select("id").limit(atOnce);
    const deleted = await trx.deleteFrom("usage").where("id", "in", due).returning(["id", "userId"]).execute();
    await tell(trx, rule, "usage", deleted);
    return deleted.length;
  });
}

/** Records the deletion first: a check of the chain then finds why the chain begins later, even after an interrupted deletion. */
async function deleteAudit(
  { db, engine, auditKey }: RetentionServices,
  rule: RetentionRow,
  now: number,
): Promise<number> {
  const through = await dueAudit(db, rule, now);
  if (!through) return 0;
  await allowCut(db, engine, auditKey, through);
  const before = { ...ofRule(rule), through };
  const event = { action: "retention", resource: "audit", changes: { before } };
  await db.transaction().execute((trx) => appendAudit(trx, event));
  for (;;) {
    const some = db.selectFrom("audit").where("seq", "<=", through.seq).orderBy("seq").select("id").limit(atOnce);
    const { numDeletedRows } = await db.deleteFrom("audit").where("id", "in", some).executeTakeFirst();
    if (numDeletedRows < atOnce) return 0;
    await setTimeout(rest);
  }
}

async function tell(trx: Trx, rule: RetentionRow, resource: string, gone: { id: string; userId: string }[]) {
  if (gone.length === 0) return;
  const before = { ...ofRule(rule), count: gone.length, ids: gone.map(({ id }) => id) };
  await appendAudit(trx, { action: "retention", resource, changes: { before } });
}

const ofRule = ({ id, days, groupId }: RetentionRow) => ({ ruleId: id, days, ...(groupId && { groupId }) });
