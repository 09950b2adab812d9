import { deriveKey, encrypt, tryDecrypt } from "../process/crypto.server.ts";
import { sealIdentity } from "./audit/keys.server.ts";
import type { Db } from "./engine.server.ts";

/**
 * The encryption keys for stored secrets: of providers' API keys, of tools, of accesses, of authenticator apps, and of what seals
 * the audit trail.
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

type Kept = { id: string; encrypted: string; identity: string };
type KeptSecrets = Record<
  "models" | "searchModels" | "voiceModels" | "tools" | "tokens" | "accounts" | "accesses" | "authenticators" | "seals",
  Kept[]
>;

async function keptSecrets(db: Db): Promise<KeptSecrets> {
  const models = await db.selectFrom("models").where("apiKey", "is not", null).select(["id", "apiKey"]).execute();
  const searchModels = await db.selectFrom("searchModels").select(["id", "apiKey"]).execute();
  const voiceModels = await db.selectFrom("voiceModels").select(["id", "apiKey"]).execute();
  const tools = await db.selectFrom("tools").select(["id", "secret", "access"]).execute();
  const accounts = await db.selectFrom("toolAccounts").select(["id", "access"]).execute();
  const accesses = await db.selectFrom("accesses").select(["id", "secret"]).execute();
  const authenticators = await db.selectFrom("authenticators").select(["id", "userId", "secret"]).execute();
  const seals = await db.selectFrom("sealKeys").select(["id", "key", "adopted"]).execute();
  return {
    seals: seals.map(({ id, key, adopted }) => ({ id, encrypted: key, identity: sealIdentity({ id, adopted }) })),
    tools: tools.flatMap(({ id, secret }) => (secret ? [{ id, encrypted: secret, identity: id }] : [])),
    accesses: accesses.flatMap(({ id, secret }) => (secret ? [{ id, encrypted: secret, identity: id }] : [])),
    tokens: tools.flatMap(({ id, access }) => (access ? [{ id, encrypted: access, identity: id }] : [])),
    accounts: accounts.flatMap(({ id, access }) => (access ? [{ id, encrypted: access, identity: id }] : [])),
    models: models.flatMap(({ id, apiKey }) => (apiKey ? [{ id, encrypted: apiKey, identity: id }] : [])),
    searchModels: searchModels.flatMap(({ id, apiKey }) => (apiKey ? [{ id, encrypted: apiKey, identity: id }] : [])),
    voiceModels: voiceModels.flatMap(({ id, apiKey }) => (apiKey ? [{ id, encrypted: apiKey, identity: id }] : [])),
    authenticators: authenticators.map(({ id, userId, secret }) => ({
      id,
      encrypted: secret,
      identity: authenticatorIdentity(userId),
    })),
  };
}

/** Counts the stored secrets that these keys can't decrypt, because they were stored under another master secret. */
export async function countLost(
  db: Db,
  keys: SecretKeys,
): Promise<{ models: number; tools: number; accesses: number; authenticators: number }> {
  const { models, searchModels, voiceModels, tools, tokens, accounts, accesses, authenticators } =
    await keptSecrets(db);
  const lost = (kept: Kept[], key: Buffer) =>
    kept.filter(({ encrypted, identity }) => tryDecrypt(encrypted, key, identity) === undefined).length;
  return {
    models: [models, searchModels, voiceModels].reduce((sum, kept) => sum + lost(kept, keys.modelKey), 0),
    tools: [tools, tokens, accounts].reduce((sum, kept) => sum + lost(kept, keys.toolKey), 0),
    accesses: lost(accesses, keys.accessKey),
    authenticators: lost(authenticators, keys.authenticatorKey),
  };
}

/**
 * Re-encrypts all stored secrets in one transaction. Secrets that are under the new key already stay, so an interrupted rotation
 * can be repeated. Recovery codes are keyed hashes and can't be carried over; they are removed, and all sessions end.
 * Returns how many were re-encrypted, and how many neither key decrypts.
 */
export async function reencrypt(db: Db, from: SecretKeys, to: SecretKeys): Promise<{ done: number; lost: number }> {
  return db.transaction().execute(async (trx) => {
    const { models, searchModels, voiceModels, tools, tokens, accounts, accesses, authenticators, seals } =
      await keptSecrets(trx);
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
    for (const kept of searchModels) {
      const apiKey = anew(kept, from.modelKey, to.modelKey);
      if (apiKey) await trx.updateTable("searchModels").set({ apiKey }).where("id", "=", kept.id).execute();
    }
    for (const kept of voiceModels) {
      const apiKey = anew(kept, from.modelKey, to.modelKey);
      if (apiKey) await trx.updateTable("voiceModels").set({ apiKey }).where("id", "=", kept.id).execute();
    }
    for (const kept of tools) {
      const secret = anew(kept, from.toolKey, to.toolKey);
      if (secret) await trx.updateTable("tools").set({ secret }).where("id", "=", kept.id).execute();
    }
    for (const kept of accesses) {
      const secret = anew(kept, from.accessKey, to.accessKey);
      if (secret) await trx.updateTable("accesses").set({ secret }).where("id", "=", kept.id).execute();
    }
    for (const kept of tokens) {
      const access = anew(kept, from.toolKey, to.toolKey);
      if (access) await trx.updateTable("tools").set({ access }).where("id", "=", kept.id).execute();
    }
    for (const kept of accounts) {
      const access = anew(kept, from.toolKey, to.toolKey);
      if (access) await trx.updateTable("toolAccounts").set({ access }).where("id", "=", kept.id).execute();
    }
    for (const kept of authenticators) {
      const secret = anew(kept, from.authenticatorKey, to.authenticatorKey);
      const change = { secret, recoveryCodes: "[]" };
      if (secret) await trx.updateTable("authenticators").set(change).where("id", "=", kept.id).execute();
    }
    for (const kept of seals) {
      const key = anew(kept, from.auditKey, to.auditKey);
      if (key) await trx.updateTable("sealKeys").set({ key }).where("id", "=", kept.id).execute();
    }
    await trx.deleteFrom("sessions").execute();
    return count;
  });
}
