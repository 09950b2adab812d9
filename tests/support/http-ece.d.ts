/** The part of RFC 8188's encryption that the tests use; the package has no types. */
declare module "http_ece" {
  import type { ECDH } from "node:crypto";
  export function decrypt(body: Buffer, keys: { version: "aes128gcm"; privateKey: ECDH; authSecret: string }): Buffer;
}
