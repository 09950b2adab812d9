import { createReadStream } from "node:fs";
import { copyFile, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ReadableStream as WebStream } from "node:stream/web";
import { makeFolder } from "../process/fsync.server.ts";

/** The variants of a stored file: the original, an image for models, a smaller image for pages. */
export const variants = ["original", "image", "preview"] as const;
export type Variant = (typeof variants)[number];

/** The bytes of files, in a local folder. A stored file is complete or absent, even if the process is killed in between. */
export class Storage {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  path(id: string, variant: Variant): string {
    // The end of a UUIDv7 is random: files spread evenly over 256 folders.
    return join(this.#dir, id.slice(-2), `${id}.${variant}`);
  }

  /** Stores bytes, or a copy of the file at a path. */
  async put(id: string, variant: Variant, source: Uint8Array | string): Promise<void> {
    const path = this.path(id, variant);
    const part = `${path}.part`;
    makeFolder(dirname(path));
    await (typeof source === "string" ? copyFile(source, part) : writeFile(part, source));
    await sync(part);
    await rename(part, path);
    await sync(dirname(path));
  }

  read(id: string, variant: Variant): Promise<Buffer> {
    return readFile(this.path(id, variant));
  }

  /** The same as a stream, with its size. */
  async stream(id: string, variant: Variant): Promise<{ body: ReadableStream<Uint8Array>; size: number }> {
    const path = this.path(id, variant);
    const { size } = await stat(path);
    // Opened at the first read: a stream that is never read (HEAD, or a client that has left) would never be closed.
    const body = WebStream.from(bytesOf(path)) as unknown as ReadableStream<Uint8Array>;
    return { body, size };
  }

  async delete(ids: string[]): Promise<void> {
    for (const id of ids) for (const variant of variants) await rm(this.path(id, variant), { force: true });
  }

  /** The ids of files stored more than `age` ms ago. */
  async *stored(age: number): AsyncGenerator<string> {
    for (const folder of await readdir(this.#dir).catch(nothingYet)) {
      for (const name of await readdir(join(this.#dir, folder))) {
        const found = await stat(join(this.#dir, folder, name)).catch(() => undefined);
        const id = name.split(".")[0];
        if (id && found && found.mtimeMs < Date.now() - age) yield id;
      }
    }
  }
}

async function* bytesOf(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path);
}

function nothingYet(error: NodeJS.ErrnoException): string[] {
  if (error.code === "ENOENT") return [];
  throw error;
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
