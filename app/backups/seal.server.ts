import { createCipheriv, createDecipheriv, createHmac, randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { copyFile, open, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { ConfigError } from "../process/config.server.ts";
import { objectOf } from "../process/text/json.ts";
import type { BackupPlace } from "./place.server.ts";

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt);
// OWASP's parameters for scrypt; 128 MB.
const cost = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };
const keyLength = 32;
const ivLength = 12;
const tagLength = 16;
/** The salt of the passphrase, and a mark by which a wrong one is known. */
const keyFolder = "clave/";
const keyFile = `${keyFolder}clave.json`;
/** Descriptions of copies, one a copy. */
export const copiesPrefix = "copias/";

/** Seals files for a place of copies with AES-256-GCM; without a passphrase, leaves files as they are. */
export class CopySeal {
  readonly #key: Buffer | undefined;

  private constructor(key: Buffer | undefined) {
    this.#key = key;
  }

  /**
   * The seal of a place; the first seal with a passphrase stores its salt there. `dir`: for temporary files. Throws ConfigError if the
   * passphrase is missing or wrong.
   */
  static async open(place: BackupPlace, passphrase: string | undefined, dir: string): Promise<CopySeal> {
    const has = (await place.list(keyFolder)).includes(keyFile);
    if (!passphrase) {
      if (has) throw new ConfigError(`Las copias de ${place.name} están cifradas: falta BACKUP_PASSPHRASE.`);
      return new CopySeal(undefined);
    }
    const path = join(dir, "clave.json");
    if (!has) {
      // One file may belong to several copies: it can't be sealed in one and not in another.
      if ((await place.list(copiesPrefix)).length > 0) {
        throw new ConfigError(
          `En ${place.name} hay copias sin cifrar: con BACKUP_PASSPHRASE van a otro sitio (BACKUP_URL).`,
        );
      }
      const salt = randomBytes(16);
      const key = await derive(passphrase, salt, keyLength, cost);
      await writeFile(path, JSON.stringify({ salt: salt.toString("base64"), mark: markOf(key).toString("base64") }));
      await place.put(keyFile, path);
      return new CopySeal(key);
    }
    await place.get(keyFile, path);
    const { salt = "", mark = "" } = objectOf(await readFile(path, "utf8")) ?? {};
    const key = await derive(passphrase, Buffer.from(String(salt), "base64"), keyLength, cost);
    const expected = Buffer.from(String(mark), "base64");
    if (expected.length !== keyLength || !timingSafeEqual(expected, markOf(key))) {
      throw new ConfigError(`BACKUP_PASSPHRASE no es la de las copias de ${place.name}.`);
    }
    return new CopySeal(key);
  }

  get isSecret(): boolean {
    return this.#key !== undefined;
  }

  /** Seals a file under the name that it will have: under another one it can't be opened. */
  async seal(name: string, from: string, to: string): Promise<void> {
    if (!this.#key) return copyFile(from, to);
    const iv = randomBytes(ivLength);
    const cipher = createCipheriv("aes-256-gcm", this.#key, iv).setAAD(Buffer.from(name));
    await writeFile(to, iv);
    await pipeline(createReadStream(from), cipher, createWriteStream(to, { flags: "a" }));
    await writeFile(to, cipher.getAuthTag(), { flag: "a" });
  }

  /** Rejects if the file was changed, or stood under another name. */
  async open(name: string, from: string, to: string): Promise<void> {
    if (!this.#key) return copyFile(from, to);
    const { size } = await stat(from);
    const iv = Buffer.alloc(ivLength);
    const tag = Buffer.alloc(tagLength);
    const file = await open(from);
    try {
      await file.read(iv, 0, ivLength, 0);
      await file.read(tag, 0, tagLength, size - tagLength);
    } finally {
      await file.close();
    }
    const decipher = createDecipheriv("aes-256-gcm", this.#key, iv).setAAD(Buffer.from(name)).setAuthTag(tag);
    const end = size - tagLength - 1;
    // An empty file is nothing but its iv and its tag.
    if (end < ivLength) return writeFile(to, decipher.final());
    await pipeline(createReadStream(from, { start: ivLength, end }), decipher, createWriteStream(to));
  }
}

const markOf = (key: Buffer): Buffer => createHmac("sha256", key).update("tertulia").digest();
