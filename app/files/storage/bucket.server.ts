import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import pLimit from "p-limit";
import { byteStream } from "../../process/byte-stream.server.ts";
import { faultOf } from "../../process/fault.ts";
import type { BucketSettings } from "../../process/storage-url.server.ts";
import { clientOf } from "./bucket-client.server.ts";
import {
  type Content,
  nameOf,
  type Part,
  readName,
  type Storage,
  StorageUnavailable,
  type StoredFile,
  type Variant,
  variants,
} from "./storage.server.ts";

// In ms. `answer`: longest wait until an answer begins; `silence`: longest pause in an answer. Uploads may take longer by their size.
const answer = 10_000;
const silence = 30_000;
const slowestUpload = 100; // bytes per ms
const putAttempts = 2;
// In ms: bound on all attempts of an upload together, beside the time for its size; after that, the upload fails.
const putWithin = 25_000;
// In bytes: four parts are in memory. An object has 10,000 parts at most, which makes 80 GB.
const partSize = 8 * 1024 * 1024;
const deletesAtOnce = 8;
// Remains of a killed process are swept like uploads (`http/multipart.server.ts`).
const lentPrefix = "tertulia-recibido-";

/**
 * The bytes of files in a bucket of an S3 store. Stores write an object whole or not at all, and every later read sees it
 * (strong consistency, which S3 has had since December 2020, and MinIO, Ceph and R2 have).
 */
export class BucketStorage implements Storage {
  readonly #settings: BucketSettings;
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;

  constructor(settings: BucketSettings) {
    this.#settings = settings;
    this.#bucket = settings.bucket;
    this.#prefix = settings.prefix;
    this.#client = clientOf(settings, answer);
  }

  /** Checks the bucket; throws StorageUnavailable, whose `cause` names the fault. Lists it, as a refused HEAD gives no reason. */
  async check(): Promise<void> {
    const command = new ListObjectsV2Command({ Bucket: this.#bucket, Prefix: this.#prefix, MaxKeys: 1 });
    await this.#client.send(command).catch((cause: Error) => {
      throw new StorageUnavailable(wordsOf(cause), { cause });
    });
  }

  async put(id: string, variant: Variant, source: Uint8Array | string | AsyncIterable<Uint8Array>): Promise<void> {
    if (typeof source !== "string" && !(source instanceof Uint8Array)) return this.#putWhileMade(id, variant, source);
    const size = typeof source === "string" ? (await stat(source)).size : source.byteLength;
    const requestTimeout = answer + size / slowestUpload;
    const abortSignal = AbortSignal.timeout(putWithin + Math.ceil(size / slowestUpload));
    for (let attempt = 1; ; attempt++) {
      // The SDK does not repeat what it has read from a stream, so each attempt has a stream of its own.
      const Body = typeof source === "string" ? createReadStream(source) : source;
      const command = new PutObjectCommand({ ...this.#object(id, variant), Body, ContentLength: size });
      try {
        await this.#ask(() => this.#client.send(command, { requestTimeout, abortSignal }));
        return;
      } catch (error) {
        if (attempt === putAttempts || typeof source !== "string" || abortSignal.aborted) throw error;
      } finally {
        if (!(Body instanceof Uint8Array)) Body.destroy();
      }
    }
  }

  /** Uploads in parts of a few MB; at the end, the SDK asks the store to make one object of the parts. */
  async #putWhileMade(id: string, variant: Variant, source: AsyncIterable<Uint8Array>): Promise<void> {
    const { Upload } = await import("@aws-sdk/lib-storage");
    const client = clientOf(this.#settings, answer + partSize / slowestUpload);
    let failed: unknown;
    // Errors of the source are thrown as they are: they are no fault of the store.
    const Body = Readable.from(source).once("error", (error) => {
      failed = error;
    });
    try {
      await this.#ask(() => new Upload({ client, partSize, params: { ...this.#object(id, variant), Body } }).done());
    } catch (error) {
      throw failed ?? error;
    } finally {
      Body.destroy();
      client.destroy();
    }
  }

  async read(id: string, variant: Variant): Promise<Buffer | undefined> {
    const parts: Uint8Array[] = [];
    const found = await this.#get(id, variant);
    if (!found) return;
    for await (const part of found) parts.push(part);
    return Buffer.concat(parts);
  }

  async stream(id: string, variant: Variant): Promise<Content | undefined> {
    const head = await this.#ask(() => this.#client.send(new HeadObjectCommand(this.#object(id, variant))));
    if (!head) return;
    const read = (part?: Part) => byteStream(this.#late(id, variant, part));
    return { size: head.ContentLength ?? 0, read };
  }

  async lend<Result>(id: string, variant: Variant, use: (path: string) => Promise<Result>) {
    const found = await this.#get(id, variant);
    if (!found) return;
    const dir = await mkdtemp(join(tmpdir(), lentPrefix));
    try {
      const path = join(dir, "content");
      await pipeline(found, createWriteStream(path));
      return await use(path);
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  }

  async delete(ids: string[]): Promise<void> {
    const limit = pLimit(deletesAtOnce);
    // One by one: deleting many in one request takes a checksum that older stores refuse.
    const deletions = ids.flatMap((id) =>
      variants.map((variant) =>
        limit(() => this.#ask(() => this.#client.send(new DeleteObjectCommand(this.#object(id, variant))))),
      ),
    );
    await Promise.all(deletions);
  }

  async deleteUnfinished(): Promise<void> {
    // Stores have a rule for unfinished uploads (docs/operar.md); not all of them list them.
  }

  async *list(): AsyncGenerator<StoredFile> {
    for (let token: string | undefined; ; ) {
      const command = new ListObjectsV2Command({
        Bucket: this.#bucket,
        Prefix: this.#prefix,
        ContinuationToken: token,
      });
      const page = await this.#ask(() => this.#client.send(command));
      for (const { Key = "", Size = 0, LastModified } of page?.Contents ?? []) {
        const read = readName(Key.slice(this.#prefix.length));
        if (read) yield { ...read, size: Size, at: LastModified?.getTime() ?? 0 };
      }
      token = page?.NextContinuationToken;
      if (!token) return;
    }
  }

  close(): void {
    this.#client.destroy();
  }

  /** Opens the object at the first read. */
  async *#late(id: string, variant: Variant, part?: Part): AsyncGenerator<Uint8Array> {
    const found = await this.#get(id, variant, part);
    // Deleted since its size was asked for.
    if (!found) throw new StorageUnavailable("gone");
    yield* found;
  }

  async #get(id: string, variant: Variant, part?: Part): Promise<AsyncGenerator<Uint8Array> | undefined> {
    const range = part && { Range: `bytes=${part.start}-${part.end}` };
    const found = await this.#ask(() =>
      this.#client.send(new GetObjectCommand({ ...this.#object(id, variant), ...range })),
    );
    return found?.Body && unlessSilent(found.Body.transformToWebStream());
  }

  #object(id: string, variant: Variant) {
    return { Bucket: this.#bucket, Key: this.#prefix + nameOf(id, variant) };
  }

  /** The store's answer; undefined if the object is not there. Throws StorageUnavailable. */
  async #ask<Output>(send: () => Promise<Output>): Promise<Output | undefined> {
    try {
      return await send();
    } catch (cause) {
      const { name } = faultOf(cause);
      if (name === "NoSuchKey" || name === "NotFound") return undefined;
      throw new StorageUnavailable(wordsOf(cause), { cause });
    }
  }
}

/** Code of an error, such as of the network, or else its name in the SDK, and its message. */
function wordsOf(error: unknown): string {
  const { name, message, code } = faultOf(error);
  return [code || name, message].filter(Boolean).join(": ");
}

/** The parts of a body, each within `silence`. Time that the reader takes does not count. */
async function* unlessSilent(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { promise: silent, reject } = Promise.withResolvers<never>();
      const timer = setTimeout(() => reject(new StorageUnavailable("silent")), silence);
      const { done, value } = await Promise.race([reader.read(), silent]).finally(() => clearTimeout(timer));
      if (done) return;
      yield value;
    }
  } catch (cause) {
    throw cause instanceof StorageUnavailable ? cause : new StorageUnavailable("broken off", { cause });
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
