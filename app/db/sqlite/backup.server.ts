import { readdir, rename, rm, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { runWorker } from "../../process/child-process.server.ts";
import { makeFolder, syncFile, syncFolder } from "../../process/fsync.server.ts";

export type Backup = { name: string; path: string; size: number; at: number };

// In ms: enough to rewrite a database of some gigabytes.
const scrubbedWithin = 30 * 60_000;
// In one step: between two, a write of another connection would start the copy again.
const allPages = 2 ** 31 - 1;
const scrubber = new URL(`./scrub.worker${extname(import.meta.filename)}`, import.meta.url);

/** Lets another process copy a database in use to a file that does not exist yet, without temporary chats and deleted content. */
export const scrubbedCopy = (from: string, to: string): Promise<unknown> =>
  runWorker(scrubber, { path: to, from }, scrubbedWithin);

/** Backups of the embedded database, in a folder of their own. */
export class Backups {
  readonly #path: string;
  readonly #folder: string;
  #making: Promise<Backup> | undefined;

  /** `path`: the database. */
  constructor(path: string, folder: string) {
    this.#path = path;
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
      await this.#copyPages(part);
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

  /** Copies as of one moment. */
  async #copyPages(to: string): Promise<void> {
    // A connection with an open transaction cannot be copied, and the one that writes nearly always has one.
    const source = new DatabaseSync(this.#path, { readOnly: true });
    try {
      await backup(source, to, { rate: allPages });
    } finally {
      source.close();
    }
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
