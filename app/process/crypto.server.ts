import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";

/** A 32-byte key for one purpose, derived from the master secret (HKDF-SHA-256, RFC 5869). */
export function deriveKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, "tertulia", purpose, 32));
}

/** Hash of a token, which is stored in its place, so that a stolen database opens no session. */
export function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("base64url");
}

/** Encrypts with AES-256-GCM. `identity` names the row and is authenticated: the result can't be moved to another row. */
export function encrypt(text: string, key: Buffer, identity: string): string {
  const iv = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(identity));
  const body = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]).toString("base64");
}

/** Decrypts a result of `encrypt`. Throws if the key or the identity is not the same. */
export function decrypt(encrypted: string, key: Buffer, identity: string): string {
  const bytes = Buffer.from(encrypted, "base64");
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12)).setAAD(Buffer.from(identity));
  decipher.setAuthTag(bytes.subarray(12, 28));
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString("utf8");
}

/** Decrypts a result of `encrypt`; undefined if the key or the identity is not the same: the master secret may have been lost. */
export function tryDecrypt(encrypted: string, key: Buffer, identity: string): string | undefined {
  try {
    return decrypt(encrypted, key, identity);
  } catch {
    return undefined;
  }
}

/** Whether two secrets are the same, in a time that tells nothing about where they differ. */
export function sameSecret(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
