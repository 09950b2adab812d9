import { createReadStream, createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command } from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";
import { clientOf } from "../files/storage/bucket-client.server.ts";
import type { BucketSettings } from "../process/storage-url.server.ts";
import type { BackupPlace } from "./place.server.ts";

// In ms.
const answersWithin = 60_000;

/** A place of copies in a bucket of an S3 store. */
export class BucketPlace implements BackupPlace {
  readonly name: string;
  readonly #settings: BucketSettings;
  readonly #client: ReturnType<typeof clientOf>;

  constructor(settings: BucketSettings) {
    this.name = `s3://${settings.bucket}/${settings.prefix}`;
    this.#settings = settings;
    this.#client = clientOf(settings, answersWithin);
  }

  #object(name: string) {
    return { Bucket: this.#settings.bucket, Key: this.#settings.prefix + name };
  }

  async put(name: string, path: string): Promise<void> {
    const Body = createReadStream(path);
    try {
      await new Upload({ client: this.#client, params: { ...this.#object(name), Body } }).done();
    } finally {
      Body.destroy();
    }
  }

  async get(name: string, path: string): Promise<void> {
    const { Body } = await this.#client.send(new GetObjectCommand(this.#object(name)));
    if (!(Body instanceof Readable)) throw new Error(`${name} has no content`);
    await pipeline(Body, createWriteStream(path));
  }

  async list(prefix: string): Promise<string[]> {
    const { bucket: Bucket, prefix: own } = this.#settings;
    const names: string[] = [];
    for (let ContinuationToken: string | undefined; ; ) {
      const asked = new ListObjectsV2Command({ Bucket, Prefix: own + prefix, ContinuationToken });
      const page = await this.#client.send(asked);
      for (const { Key } of page.Contents ?? []) if (Key) names.push(Key.slice(own.length));
      ContinuationToken = page.NextContinuationToken;
      if (!ContinuationToken) return names;
    }
  }

  async delete(names: string[]): Promise<void> {
    // One by one: deleting many in one request takes a checksum that older stores refuse.
    for (const name of names) await this.#client.send(new DeleteObjectCommand(this.#object(name)));
  }

  close(): void {
    this.#client.destroy();
  }
}
