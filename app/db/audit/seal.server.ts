import { createHmac, randomBytes } from "node:crypto";
import { type Kysely, sql } from "kysely";
import { v7 as newId } from "uuid";
import { encrypt, tryDecrypt } from "../../process/crypto.server.ts";
import type { Db, Engine } from "../connection.server.ts";
import type { AuditRow, Tables } from "../tables.ts";

/**
 * The audit trail is a chain. Each row gets a number and a seal: a keyed hash (HMAC-SHA-256) of what it says and of the seal of the
 * row before. Who can write to the database, but does not have the master secret, can't change, insert or remove a row unnoticed.
 * What changed and the address are hashed apart, so that they can be removed with a deleted account and the rest stays checkable.
 */
export type Seal = { seq: number; hash: string };

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

const mac = (key: Buffer, values: (string | number | null)[]) =>
  createHmac("sha256", key).update(JSON.stringify(values)).digest("base64url");

// Rows sealed in one transaction.
const atOnce = 200;
// Any number that nothing else locks in PostgreSQL.
const lock = 74_110_018;

/** Seals what is not sealed yet, in the order in which it happened. Answers the last seal, if there was anything to do. */
export async function sealAudit(db: Db, engine: Engine, auditKey: Buffer): Promise<Seal | undefined> {
  let last: Seal | undefined;
  for (;;) {
    const waiting = await unsealed(db).select("id").limit(1).executeTakeFirst();
    if (!waiting) return last;
    last = (await db.transaction().execute((trx) => sealSome(trx, engine, auditKey))) ?? last;
  }
}

const unsealed = (db: Kysely<Tables>) => db.selectFrom("audit").where("seq", "is", null);

async function sealSome(trx: Db, engine: Engine, auditKey: Buffer): Promise<Seal | undefined> {
  // Only one process seals at a time, or two rows would follow the same one.
  if (engine === "postgres") await sql`select pg_advisory_xact_lock(${lock})`.execute(trx);
  const rows = await unsealed(trx).orderBy("createdAt").orderBy("id").limit(atOnce).selectAll().execute();
  if (rows.length === 0) return;
  const { id: sealKeyId, key } = await sealKey(trx, auditKey);
  let { seq, hash } = await lastSeal(trx);
  for (const row of rows) {
    const details = detailsOf(key, row);
    seq += 1;
    hash = sealOf(key, hash, seq, row, details);
    await trx.updateTable("audit").set({ seq, hash, details, sealKeyId }).where("id", "=", row.id).execute();
  }
  return { seq, hash };
}

/** The seal of the last row; of no row, 0 and nothing. A row that retention has deleted counts: the last one is never deleted. */
export async function lastSeal(db: Db): Promise<Seal> {
  const row = await db
    .selectFrom("audit")
    .where("seq", "is not", null)
    .orderBy("seq", "desc")
    .select(["seq", "hash"])
    .limit(1)
    .executeTakeFirst();
  return { seq: row?.seq ?? 0, hash: row?.hash ?? "" };
}

/**
 * The key that rows are sealed with: random, and stored under a key that is derived from the master secret. Where that was lost
 * there is a new one from then on.
 */
async function sealKey(db: Db, auditKey: Buffer): Promise<{ id: string; key: Buffer }> {
  const rows = await db.selectFrom("sealKeys").orderBy("createdAt", "desc").selectAll().execute();
  for (const row of rows) {
    const key = tryDecrypt(row.key, auditKey, row.id);
    if (key !== undefined) return { id: row.id, key: Buffer.from(key, "base64") };
  }
  const now = Date.now();
  const id = newId();
  const key = randomBytes(32);
  const encrypted = encrypt(key.toString("base64"), auditKey, id);
  await db.insertInto("sealKeys").values({ id, createdAt: now, updatedAt: now, key: encrypted }).execute();
  return { id, key };
}

/** The keys that rows were sealed with, by id; those that another master secret has encrypted are left out. */
export async function sealKeys(db: Db, auditKey: Buffer): Promise<Map<string, Buffer>> {
  const rows = await db.selectFrom("sealKeys").select(["id", "key"]).execute();
  const open = rows.map(({ id, key }) => [id, tryDecrypt(key, auditKey, id)] as const);
  return new Map(open.flatMap(([id, key]) => (key === undefined ? [] : [[id, Buffer.from(key, "base64")] as const])));
}
