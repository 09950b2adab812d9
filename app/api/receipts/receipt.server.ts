import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { z } from "@hono/zod-openapi";

/** Claims of a receipt; texts only as hashes, so that a receipt does not reveal their words. */
export const claims = z.object({
  v: z.literal(1),
  house: z.string().max(200),
  at: z.string().max(40),
  message: z.string().max(60),
  model: z.string().max(200),
  question: z.string().max(60),
  answer: z.string().max(60),
  sources: z.number(),
});
export type Claims = z.output<typeof claims>;

// The fixed beginning of an Ed25519 key in PKCS #8 (RFC 8410), before its 32 bytes.
const pkcs8 = Buffer.from("302e020100300506032b657004220420", "hex");

/** The pair of keys that 32 secret bytes make. */
export function receiptKeys(seed: Buffer): { own: KeyObject; open: KeyObject } {
  const own = createPrivateKey({ key: Buffer.concat([pkcs8, seed]), format: "der", type: "pkcs8" });
  return { own, open: createPublicKey(own) };
}

/** A receipt as it is passed on: its claims and their signature, in characters that URLs allow. */
export function sealed(given: Claims, seed: Buffer): string {
  const said = Buffer.from(JSON.stringify(given));
  return `${said.toString("base64url")}.${sign(null, said, receiptKeys(seed).own).toString("base64url")}`;
}

/** The claims of a receipt that this house has signed; undefined for anything else. */
export function opened(receipt: string, seed: Buffer): Claims | undefined {
  const [said = "", mark = "", ...rest] = receipt.replace(/\s+/g, "").split(".");
  const bytes = Buffer.from(said, "base64url");
  const signature = Buffer.from(mark, "base64url");
  if (rest.length > 0 || signature.length !== 64 || !verify(null, bytes, receiptKeys(seed).open, signature))
    return undefined;
  return claims.parse(JSON.parse(bytes.toString()));
}

/** Hash of a text: every character counts, but all white space is equal, because forms and e-mails change line ends. */
export const markOf = (text: string): string =>
  createHash("sha256").update(composed(text).replace(/\s+/g, " ").trim()).digest("base64url");

// Normalizing takes time in the square of a run of combining marks; no script puts thirty on one letter.
const composed = (text: string) => text.replace(/(\p{M}{30})\p{M}+/gu, "$1").normalize("NFC");
