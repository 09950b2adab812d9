import { createReadStream, createWriteStream } from "node:fs";
import { copyFile, mkdir, readdir, rename, rm } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { BackupSettings } from "../process/config.server.ts";
import { makeFolder, syncFile, syncFolder } from "../process/fsync.server.ts";
import type { BucketSettings } from "../process/storage-url.server.ts";

/** Keeps files under names with `/`. A file is there whole or not at all. */
export interface BackupPlace {
  /** Words for people that say where it is. */
  readonly name: string;
  put(name: string, path: string): Promise<void>;
  /** Brings a file to a path of this machine. Rejects if it is not there. */
  get(name: string, path: string): Promise<void>;
  /** The names that begin with `prefix`, which ends in `/` or is empty. */
  list(prefix: string): Promise<string[]>;
  delete(names: string[]): Promise<void>;
  close(): void;
}

/** Opens the place of copies. Nothing is asked of it yet. */
export async function openPlace(settings: BackupSettings): Promise<BackupPlace> {
  return "folder" in settings ? new FolderPlace(settings.folder) : BucketPlace.open(settings.bucket);
}

class FolderPlace implements BackupPlace {
  readonly name: string;

  constructor(folder: string) {
    this.name = folder;
  }

  async put(name: string, path: string): Promise<void> {
    const to = join(this.name, name);
    makeFolder(dirname(to));
    const part = `${to}.part`;
    try {
      await copyFile(path, part);
      syncFile(part);
      await rename(part, to);
      syncFolder(dirname(to));
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    }
  }

  async get(name: string, path: string): Promise<void> {
    await copyFile(join(this.name, name), path);
  }

  async list(prefix: string): Promise<string[]> {
    await mkdir(this.name, { recursive: true, mode: 0o700 });
    const folder = join(this.name, prefix);
    const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error) => {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    });
    return entries
      .filter((entry) => entry.isFile() && !entry.name.endsWith(".part"))
      .map((entry) => relative(this.name, join(entry.parentPath, entry.name)).split(sep).join("/"));
  }

  async delete(names: string[]): Promise<void> {
    for (const name of names) await rm(join(this.name, name), { force: true });
    // A copy is a folder of its own.
    for (const folder of new Set(names.map((name) => dirname(name)))) {
      const path = join(this.name, folder);
      if (folder !== "." && (await readdir(path).catch(() => ["?"])).length === 0) await rm(path, { recursive: true });
    }
  }

  close(): void {}
}

type S3 = typeof import("@aws-sdk/client-s3");

class BucketPlace implements BackupPlace {
  readonly name: string;
  readonly #s3: S3;
  readonly #client: InstanceType<S3["S3Client"]>;
  readonly #settings: BucketSettings;

  /** The SDK takes 20 MB of memory: it is loaded where it is used. */
  static async open(settings: BucketSettings): Promise<BucketPlace> {
    return new BucketPlace(settings, await import("@aws-sdk/client-s3"));
  }

  private constructor(settings: BucketSettings, s3: S3) {
    const { endpoint, region, keys, bucket, prefix } = settings;
    this.name = `s3://${bucket}/${prefix}`;
    this.#settings = settings;
    this.#s3 = s3;
    this.#client = new s3.S3Client({
      region,
      ...(endpoint && { endpoint, forcePathStyle: true }),
      ...(keys && { credentials: keys }),
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
      logger: { trace() {}, debug() {}, info() {}, warn() {}, error() {} },
      requestHandler: { connectionTimeout: 5_000, requestTimeout: 60_000, throwOnRequestTimeout: true },
    });
  }

  #object(name: string) {
    return { Bucket: this.#settings.bucket, Key: this.#settings.prefix + name };
  }

  async put(name: string, path: string): Promise<void> {
    const { Upload } = await import("@aws-sdk/lib-storage");
    const Body = createReadStream(path);
    try {
      await new Upload({ client: this.#client, params: { ...this.#object(name), Body } }).done();
    } finally {
      Body.destroy();
    }
  }

  async get(name: string, path: string): Promise<void> {
    const { Body } = await this.#client.send(new this.#s3.GetObjectCommand(this.#object(name)));
    if (!(Body instanceof Readable)) throw new Error(`${name} has no content`);
    await pipeline(Body, createWriteStream(path));
  }

  async list(prefix: string): Promise<string[]> {
    const names: string[] = [];
    for (let token: string | undefined; ; ) {
      const page = await this.#client.send(
        new this.#s3.ListObjectsV2Command({
          Bucket: this.#settings.bucket,
          Prefix: this.#settings.prefix + prefix,
          ContinuationToken: token,
        }),
      );
      for (const { Key } of page.Contents ?? []) if (Key) names.push(Key.slice(this.#settings.prefix.length));
      token = page.NextContinuationToken;
      if (!token) return names;
    }
  }

  async delete(names: string[]): Promise<void> {
    // One by one: deleting many in one request takes a checksum that older stores refuse.
    for (const name of names) await this.#client.send(new this.#s3.DeleteObjectCommand(this.#object(name)));
  }

  close(): void {
    this.#client.destroy();
  }
}
