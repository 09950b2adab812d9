import { type Kysely, sql } from "kysely";
import type { Db, Engine, Trx } from "../engine.server.ts";
import { newRow } from "../rows.server.ts";
import type { AuditRow, Tables } from "../tables.ts";
import { cutBefore } from "./cut.server.ts";
import {
  erasureMark,
  mac,
  makeKey,
  newest,
  openKeys,
  type Seal,
  type SealKey,
  signMark,
  signs,
} from "./keys.server.ts";

/*
 * The audit trail is a chain. Each row gets a number and a seal: a keyed hash (HMAC-SHA-256) of what it says and of the seal of the row
 * before. Somebody who can write to the database, but does not have the master secret, can't change, insert or remove a row unnoticed. The
 * changes and the address are hashed apart, so that they can be removed with a deleted account and the rest stays checkable.
 */
type Sealed = Pick<AuditRow, "id" | "createdAt" | "actorId" | "ownerId" | "action" | "resource" | "resourceId">;
type Details = Pick<AuditRow, "id" | "changes" | "ip">;

/** The seal of a row whose details have these hashes. */
export function sealOf(key: Buffer, before: string, seq: number, row: Sealed, details: string): string {
  const { id, createdAt, actorId, ownerId, action, resource, resourceId } = row;
  return mac(key, [before, seq, id, createdAt, actorId, ownerId, action, resource, resourceId, details]);
}

/** The hashes of what changed and of the address, apart from each other. */
export const detailsOf = (key: Buffer, { id, changes, ip }: Details): string =>
  `${mac(key, ["changes", id, changes])}.${mac(key, ["ip", id, ip])}`;

// Rows sealed in one transaction.
const atOnce = 200;
// Any number that nothing else locks in PostgreSQL.
const lock = 74_110_018;

/** Seals the unsealed rows, in the order of their events. Returns the last seal, if there was anything to seal. */
export async function sealAudit(db: Db, engine: Engine, auditKey: Buffer): Promise<Seal | undefined> {
  let last: Seal | undefined;
  for (;;) {
    const waiting = await unsealed(db).select("id").limit(1).executeTakeFirst();
    if (!waiting) return last;
    last = (await alone(db, engine, (trx) => sealSome(trx, auditKey))) ?? last;
  }
}

/** Only one process at a time seals or signs, or two rows would follow the same one, and two keys be made. */
async function beAlone(trx: Trx, engine: Engine): Promise<void> {
  if (engine === "postgres") await sql`select pg_advisory_xact_lock(${lock})`.execute(trx);
}

const alone = <Result>(db: Db, engine: Engine, work: (trx: Trx) => Promise<Result>): Promise<Result> =>
  db.transaction().execute(async (trx) => {
    await beAlone(trx, engine);
    return work(trx);
  });

const unsealed = (db: Kysely<Tables>) => db.selectFrom("audit").where("seq", "is", null);

async function sealSome(trx: Trx, auditKey: Buffer): Promise<Seal | undefined> {
  const rows = await unsealed(trx).orderBy("createdAt").orderBy("id").limit(atOnce).selectAll().execute();
  if (rows.length === 0) return;
  const current = await currentKey(trx, auditKey);
  const { id: sealKeyId, key } = current;
  // Rows that were cut off at the end leave a gap: their numbers are not given again.
  let { seq, hash } = newest([await lastSeal(trx), current.head]) ?? { seq: 0, hash: "" };
  for (const row of rows) {
    const details = detailsOf(key, row);
    seq += 1;
    hash = sealOf(key, hash, seq, row, details);
    await trx.updateTable("audit").set({ seq, hash, details, sealKeyId }).where("id", "=", row.id).execute();
  }
  // A missing signature is not made again, because that would hide the rows that are missing with it.
  if (current.head) await signMark(trx, current, "head", { seq, hash });
  return { seq, hash };
}

/** The seal of the last row; number 0 and an empty seal if there is no row. Retention never deletes the last row. */
async function lastSeal(db: Db): Promise<Seal> {
  const row = await db
    .selectFrom("audit")
    .where("seq", "is not", null)
    .orderBy("seq", "desc")
    .select(["seq", "hash"])
    .limit(1)
    .executeTakeFirst();
  return { seq: Number(row?.seq ?? 0), hash: row?.hash ?? "" };
}

/** Allows the deletion of the first rows, up to this one. Call it before they are deleted. */
export const allowCut = (db: Db, engine: Engine, auditKey: Buffer, through: Seal): Promise<void> =>
  alone(db, engine, async (trx) => signMark(trx, await currentKey(trx, auditKey), "cut", through));

/**
 * Notes that the details of a deleted account are gone from the trail. Call it in the transaction that removes the details, and before
 * removing them: a process that seals also takes the lock first, and then the rows.
 */
export async function noteErasure(trx: Trx, engine: Engine, auditKey: Buffer, personId: string): Promise<void> {
  await beAlone(trx, engine);
  const now = Date.now();
  const mark = erasureMark(await currentKey(trx, auditKey), personId);
  await trx
    .insertInto("erasures")
    .values({ ...newRow(now), personId, mark })
    .execute();
}

/** The newest key that signs; where there is none, as after an upgrade or a lost master secret, a new key accepts the trail as it is. */
async function currentKey(db: Db, auditKey: Buffer): Promise<SealKey> {
  const keys = await openKeys(db, auditKey);
  const known = keys.find(signs);
  if (known) return known;
  const older = keys.filter(({ adopted }) => adopted === null);
  const cut = older.length > 0 ? await cutBefore(db) : undefined;
  return makeKey(db, auditKey, { head: await lastSeal(db), cut, older });
}
