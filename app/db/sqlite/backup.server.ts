import { readdir, rename, rm, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { backup, type DatabaseSync } from "node:sqlite";
import { runWorker } from "../../process/child-process.server.ts";
import { makeFolder, syncFile, syncFolder } from "../../process/fsync.server.ts";

export type Backup = { name: string; path: string; size: number; at: number };

// In ms: enough to rewrite a database of some gigabytes.
const scrubbedWithin = 30 * 60_000;
const scrubber = new URL(`./scrub.worker${extname(import.meta.filename)}`, import.meta.url);

/** Lets another process copy a database in use to a file that does not exist yet, without temporary chats and deleted content. */
export const scrubbedCopy = (from: string, to: string): Promise<unknown> =>
  runWorker(scrubber, { path: to, from }, scrubbedWithin);

/** Backups of the embedded database, in a folder of their own. */
export class Backups {
  readonly #handle: DatabaseSync;
  readonly #folder: string;
  #making: Promise<Backup> | undefined;

  constructor(handle: DatabaseSync, folder: string) {
    this.#handle = handle;
    this.#folder = folder;
  }

  /**
   * Makes a backup while the database is in use (SQLite's online backup), without temporary chats and deleted content.
   * Concurrent calls share one backup.
   */
  make(name: string): Promise<Backup> {
    this.#making ??= this.#copy(`${name}-${new Date().toISOString().replace(/[:.]/g, "-")}.db`).finally(() => {
      this.#making = undefined;
    });
    return this.#making;
  }

  async #copy(name: string): Promise<Backup> {
    makeFolder(this.#folder);
    const path = join(this.#folder, name);
    // An interrupted backup never has a backup's name.
    const part = `${path}.part`;
    try {
      await backup(this.#handle, part);
      await runWorker(scrubber, { path: part }, scrubbedWithin);
      syncFile(part);
      await rename(part, path);
      syncFolder(this.#folder);
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    }
    return this.#describe(name);
  }

  /** The existing backups, newest first. */
  async list(): Promise<Backup[]> {
    const names = await readdir(this.#folder).catch(() => []);
    const found = await Promise.all(names.filter((name) => name.endsWith(".db")).map((name) => this.#describe(name)));
    return found.sort((a, b) => b.at - a.at);
  }

  async find(name: string): Promise<Backup | undefined> {
    return (await this.list()).find((one) => one.name === name);
  }

  async delete({ path }: Backup): Promise<void> {
    await rm(path, { force: true });
  }

  async #describe(name: string): Promise<Backup> {
    const path = join(this.#folder, name);
    const { size, mtimeMs } = await stat(path);
    return { name, path, size, at: Math.round(mtimeMs) };
  }
}
