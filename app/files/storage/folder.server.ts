import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { copyFile, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { byteStream } from "../../process/byte-stream.server.ts";
import { makeFolder } from "../../process/fsync.server.ts";
import {
  type Content,
  nameOf,
  type Part,
  readName,
  type Storage,
  type StoredFile,
  type Variant,
  variants,
} from "./storage.server.ts";

/** The bytes of files in a folder of this machine, or in one that several machines mount. */
export class FolderStorage implements Storage {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Writes to a temporary file, syncs and renames it: a reader finds the whole content or nothing, also after a power loss. */
  async put(id: string, variant: Variant, source: Uint8Array | string | AsyncIterable<Uint8Array>): Promise<void> {
    const path = this.path({ id, variant });
    // Each writer has its own part: a job that was taken from a process may run in two for a moment.
    const part = `${path}.${randomUUID()}.part`;
    makeFolder(dirname(path));
    try {
      await (typeof source === "string" ? copyFile(source, part) : writeFile(part, source));
      await sync(part);
      await rename(part, path);
    } catch (error) {
      // On a full disk, the part would take the room that is missing.
      await rm(part, { force: true });
      throw error;
    }
    await sync(dirname(path));
  }

  read(id: string, variant: Variant): Promise<Buffer | undefined> {
    return readFile(this.path({ id, variant })).catch(absent);
  }

  async stream(id: string, variant: Variant): Promise<Content | undefined> {
    const path = this.path({ id, variant });
    const found = await stat(path).catch(absent);
    const read = (part?: Part) => byteStream(bytesOf(path, part));
    return found && { size: found.size, read };
  }

  async lend<Result>(id: string, variant: Variant, use: (path: string) => Promise<Result>) {
    const path = this.path({ id, variant });
    return (await stat(path).catch(absent)) && use(path);
  }

  async delete(ids: string[]): Promise<void> {
    for (const id of ids) for (const variant of variants) await rm(this.path({ id, variant }), { force: true });
  }

  async deleteUnfinished(before: number): Promise<void> {
    for await (const name of this.#names()) {
      const path = join(this.#dir, name);
      const found = name.endsWith(".part") && (await stat(path).catch(absent));
      if (found && found.mtimeMs < before) await rm(path, { force: true });
    }
  }

  async *list(): AsyncGenerator<StoredFile> {
    for await (const name of this.#names()) {
      const read = readName(name);
      // The file may have been deleted since its folder was read.
      const found = read && (await stat(join(this.#dir, name)).catch(absent));
      if (found) yield { ...read, size: found.size, at: found.mtimeMs };
    }
  }

  /** Stored names, finished or not, in order: one folder in memory at a time. */
  async *#names(): AsyncGenerator<string> {
    for (const folder of ((await readdir(this.#dir).catch(absent)) ?? []).sort()) {
      for (const name of ((await readdir(join(this.#dir, folder)).catch(absent)) ?? []).sort())
        yield `${folder}/${name}`;
    }
  }

  close(): void {}

  path({ id, variant }: Pick<StoredFile, "id" | "variant">): string {
    return join(this.#dir, nameOf(id, variant));
  }
}

async function* bytesOf(path: string, part?: Part): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path, part);
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
