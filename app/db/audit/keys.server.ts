import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { v7 as newId } from "uuid";
import { encrypt, tryDecrypt } from "../../process/crypto.server.ts";
import type { Db } from "../engine.server.ts";
import type { SealKeyRow } from "../tables.ts";

/** Number of a row of the audit trail, and its seal. */
export type Seal = { seq: number; hash: string };

/**
 * A key that rows are sealed with: random, and stored under a key that is derived from the master secret. Somebody who can write to the
 * database, but does not have the secret, can neither make such a key nor sign these marks with it:
 * - `head`: the last row that was sealed; without this mark the end of the trail could be cut off unseen;
 * - `cut`: the last row that retention was allowed to delete; anybody could add a row that only says so;
 * - `adopted`: the last row when the key was made. Up to that row, unsigned deletions by older versions are trusted. null: the key of
 *   an older version, which signs nothing; `followed`: an older key that a signing key has followed, so that one has to exist.
 */
export type SealKey = {
  id: string;
  key: Buffer;
  adopted: number | null;
  head: Seal | undefined;
  cut: Seal | undefined;
};

const followed = -1;

/** Whether a key signs marks. An honest server never makes a second one. */
export const signs = ({ adopted }: SealKey): boolean => adopted !== null && adopted !== followed;
export const isFollowed = ({ adopted }: SealKey): boolean => adopted === followed;

/** The identity that a stored key is encrypted for. It contains `adopted`, so versions that sign no marks can't decrypt a key that signs them. */
export const sealIdentity = ({ id, adopted }: Pick<SealKeyRow, "id" | "adopted">): string =>
  adopted === null ? id : `${id} ${adopted}`;

/** The keys that the master secret opens, the newest first; keys that another secret has encrypted are left out. */
export async function openKeys(db: Db, auditKey: Buffer): Promise<SealKey[]> {
  const rows = await db.selectFrom("sealKeys").orderBy("createdAt", "desc").orderBy("id", "desc").selectAll().execute();
  return rows.flatMap(({ id, key: encrypted, head, cut, ...row }) => {
    const adopted = row.adopted === null ? null : Number(row.adopted);
    const opened = tryDecrypt(encrypted, auditKey, sealIdentity({ id, adopted }));
    if (opened === undefined) return [];
    const key = Buffer.from(opened, "base64");
    return [{ id, key, adopted, head: signedSeal(key, "head", head), cut: signedSeal(key, "cut", cut) }];
  });
}

/** A new key, for a trail that ends at `head` and whose beginning was cut at `cut`. `older`: keys of versions that signed nothing. */
export async function makeKey(
  db: Db,
  auditKey: Buffer,
  { head, cut, older }: { head: Seal; cut: Seal | undefined; older: SealKey[] },
): Promise<SealKey> {
  const now = Date.now();
  const id = newId();
  const key = randomBytes(32);
  const adopted = head.seq;
  const encrypted = encrypt(key.toString("base64"), auditKey, sealIdentity({ id, adopted }));
  const signed = { head: sign(key, "head", head), cut: cut ? sign(key, "cut", cut) : null };
  await db
    .insertInto("sealKeys")
    .values({ id, createdAt: now, updatedAt: now, key: encrypted, adopted, ...signed })
    .execute();
  for (const one of older) {
    const identity = sealIdentity({ id: one.id, adopted: followed });
    const again = encrypt(one.key.toString("base64"), auditKey, identity);
    await db.updateTable("sealKeys").set({ key: again, adopted: followed }).where("id", "=", one.id).execute();
  }
  return { id, key, adopted, head, cut };
}

/** Signs the last row of the trail, or the last row that retention may delete. */
export async function signMark(db: Db, { id, key }: SealKey, mark: "head" | "cut", seal: Seal): Promise<void> {
  await db
    .updateTable("sealKeys")
    .set({ [mark]: sign(key, mark, seal) })
    .where("id", "=", id)
    .execute();
}

/** The seal of the last row among these. */
export const newest = (seals: (Seal | undefined)[]): Seal | undefined =>
  seals.filter((seal) => seal !== undefined).sort((a, b) => b.seq - a.seq)[0];

/** A keyed hash (HMAC-SHA-256) of these values. */
export const mac = (key: Buffer, values: (string | number | null)[]): string =>
  createHmac("sha256", key).update(JSON.stringify(values)).digest("base64url");

/** The mark of an account whose details may be gone from the trail. */
export const erasureMark = ({ id, key }: SealKey, personId: string): string =>
  `${id} ${mac(key, ["erasure", personId])}`;

const sign = (key: Buffer, mark: string, { seq, hash }: Seal) => `${seq} ${hash} ${mac(key, [mark, seq, hash])}`;

function signedSeal(key: Buffer, mark: string, signed: string | null): Seal | undefined {
  const [number = "", hash = "", signature = ""] = (signed ?? "").split(" ");
  const seal = { seq: Number(number), hash };
  const [given, right] = [Buffer.from(signature), Buffer.from(mac(key, [mark, seal.seq, hash]))];
  return given.length === right.length && timingSafeEqual(given, right) ? seal : undefined;
}
