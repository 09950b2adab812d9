import { deriveKey, encrypt, tryDecrypt } from "../process/crypto.server.ts";
import type { Db } from "./connection.server.ts";

/** The encryption keys for stored secrets: one for provider API keys, one for secrets of authenticator apps. */
export type SecretKeys = { modelKey: Buffer; authenticatorKey: Buffer };

export const secretKeys = (masterSecret: string): SecretKeys => ({
  modelKey: deriveKey(masterSecret, "model keys"),
  authenticatorKey: deriveKey(masterSecret, "authenticators"),
});

/** The identity that an authenticator's secret is bound to. */
export const authenticatorIdentity = (userId: string) => `authenticators:${userId}`;

type Kept = { id: string; encrypted: string; identity: string };

async function keptSecrets(db: Db): Promise<{ models: Kept[]; authenticators: Kept[] }> {
  const models = await db.selectFrom("models").where("apiKey", "is not", null).select(["id", "apiKey"]).execute();
  const authenticators = await db.selectFrom("authenticators").select(["id", "userId", "secret"]).execute();
  return {
    models: models.flatMap(({ id, apiKey }) => (apiKey ? [{ id, encrypted: apiKey, identity: id }] : [])),
    authenticators: authenticators.map(({ id, userId, secret }) => ({
      id,
      encrypted: secret,
      identity: authenticatorIdentity(userId),
    })),
  };
}

/** Counts the stored secrets that these keys can't decrypt, because they were stored under another master secret. */
export async function countLost(db: Db, keys: SecretKeys): Promise<{ models: number; authenticators: number }> {
  const { models, authenticators } = await keptSecrets(db);
  const lost = (kept: Kept[], key: Buffer) =>
    kept.filter(({ encrypted, identity }) => tryDecrypt(encrypted, key, identity) === undefined).length;
  return { models: lost(models, keys.modelKey), authenticators: lost(authenticators, keys.authenticatorKey) };
}

/**
 * Re-encrypts all stored secrets in one transaction. Secrets that are under the new key already stay, so an interrupted rotation
 * can be repeated. Recovery codes are keyed hashes and can't be carried over; they are removed, and all sessions end.
 * Returns how many were re-encrypted, and how many neither key decrypts.
 */
export async function reencrypt(db: Db, from: SecretKeys, to: SecretKeys): Promise<{ done: number; lost: number }> {
  return db.transaction().execute(async (trx) => {
    const { models, authenticators } = await keptSecrets(trx);
    const count = { done: 0, lost: 0 };
    const anew = ({ encrypted, identity }: Kept, old: Buffer, key: Buffer): string | undefined => {
      if (tryDecrypt(encrypted, key, identity) !== undefined) return;
      const text = tryDecrypt(encrypted, old, identity);
      count[text === undefined ? "lost" : "done"]++;
      return text && encrypt(text, key, identity);
    };
    for (const kept of models) {
      const apiKey = anew(kept, from.modelKey, to.modelKey);
      if (apiKey) await trx.updateTable("models").set({ apiKey }).where("id", "=", kept.id).execute();
    }
    for (const kept of authenticators) {
      const secret = anew(kept, from.authenticatorKey, to.authenticatorKey);
      const change = { secret, recoveryCodes: "[]" };
      if (secret) await trx.updateTable("authenticators").set(change).where("id", "=", kept.id).execute();
    }
    await trx.deleteFrom("sessions").execute();
    return count;
  });
}
