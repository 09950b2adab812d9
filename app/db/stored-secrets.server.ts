import { sql } from "kysely";
import { deriveKey, encrypt, tryDecrypt } from "../process/crypto.server.ts";
import { sealIdentity } from "./audit/keys.server.ts";
import type { Db } from "./engine.server.ts";
import type { SealKeyRow, Tables } from "./tables.ts";

/**
 * The encryption keys for stored secrets: providers' API keys, secrets of tools, accesses and authenticator apps, and the keys that
 * seal the audit trail.
 */
export type SecretKeys = {
  modelKey: Buffer;
  toolKey: Buffer;
  accessKey: Buffer;
  authenticatorKey: Buffer;
  auditKey: Buffer;
};

export const secretKeys = (masterSecret: string): SecretKeys => ({
  modelKey: deriveKey(masterSecret, "model keys"),
  toolKey: deriveKey(masterSecret, "tools"),
  accessKey: deriveKey(masterSecret, "accesses"),
  authenticatorKey: deriveKey(masterSecret, "authenticators"),
  auditKey: deriveKey(masterSecret, "audit"),
});

/** The identity that an authenticator's secret is bound to. */
export const authenticatorIdentity = (userId: string) => `authenticators:${userId}`;

/** Row with a secret, whatever else it has. */
type SecretRow = { id: string } & Record<string, unknown>;
type StoredSecret = {
  table: keyof Tables;
  column: string;
  key: keyof SecretKeys;
  /** Identity that the secret is encrypted with, if it is not the row's id. */
  identity?(row: SecretRow): string;
  /** Set with a re-encrypted secret. */
  also?: Record<string, string>;
};

const stored: StoredSecret[] = [
  { table: "models", column: "apiKey", key: "modelKey" },
  { table: "searchModels", column: "apiKey", key: "modelKey" },
  { table: "voiceModels", column: "apiKey", key: "modelKey" },
  { table: "tools", column: "secret", key: "toolKey" },
  { table: "tools", column: "access", key: "toolKey" },
  { table: "toolAccounts", column: "access", key: "toolKey" },
  { table: "driveAccounts", column: "password", key: "toolKey" },
  { table: "webhooks", column: "secret", key: "toolKey" },
  { table: "accesses", column: "secret", key: "accessKey" },
  {
    table: "authenticators",
    column: "secret",
    key: "authenticatorKey",
    identity: ({ userId }) => authenticatorIdentity(String(userId)),
    // Keyed hashes, which can't be carried over.
    also: { recoveryCodes: "[]" },
  },
  {
    table: "sealKeys",
    column: "key",
    key: "auditKey",
    identity: ({ id, adopted }) => sealIdentity({ id, adopted: adopted as SealKeyRow["adopted"] }),
  },
];

type Kept = StoredSecret & { id: string; encrypted: string; boundTo: string };

async function keptSecrets(db: Db): Promise<Kept[]> {
  const kept: Kept[] = [];
  for (const secret of stored) {
    const { table, column, identity } = secret;
    const { rows } =
      await sql<SecretRow>`select * from ${sql.table(table)} where ${sql.ref(column)} is not null`.execute(db);
    for (const row of rows) {
      kept.push({ ...secret, id: row.id, encrypted: String(row[column]), boundTo: identity?.(row) ?? row.id });
    }
  }
  return kept;
}

/** Counts the stored secrets that these keys can't decrypt, because they were stored under another master secret. */
export async function countLost(
  db: Db,
  keys: SecretKeys,
): Promise<{ models: number; tools: number; accesses: number; authenticators: number }> {
  const kept = await keptSecrets(db);
  const lost = (of: keyof SecretKeys) =>
    kept.filter(({ key, encrypted, boundTo }) => key === of && tryDecrypt(encrypted, keys[key], boundTo) === undefined)
      .length;
  return {
    models: lost("modelKey"),
    tools: lost("toolKey"),
    accesses: lost("accessKey"),
    authenticators: lost("authenticatorKey"),
  };
}

/**
 * Re-encrypts all stored secrets in one transaction. Secrets that are under the new key already stay, so an interrupted rotation
 * can be repeated. Recovery codes are removed, and all sessions end. Returns how many were re-encrypted, and how many neither key
 * decrypts.
 */
export async function reencrypt(db: Db, from: SecretKeys, to: SecretKeys): Promise<{ done: number; lost: number }> {
  return db.transaction().execute(async (trx) => {
    const count = { done: 0, lost: 0 };
    for (const { table, column, key, also, id, encrypted, boundTo } of await keptSecrets(trx)) {
      if (tryDecrypt(encrypted, to[key], boundTo) !== undefined) continue;
      const text = tryDecrypt(encrypted, from[key], boundTo);
      count[text === undefined ? "lost" : "done"]++;
      if (text === undefined) continue;
      const changed = Object.entries({ [column]: encrypt(text, to[key], boundTo), ...also });
      const set = sql.join(changed.map(([name, value]) => sql`${sql.ref(name)} = ${value}`));
      await sql`update ${sql.table(table)} set ${set} where id = ${id}`.execute(trx);
    }
    await trx.deleteFrom("sessions").execute();
    return count;
  });
}
