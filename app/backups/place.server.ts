import { copyFile, mkdir, readdir, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { v7 as newId } from "uuid";
import { type BackupSettings, ConfigError } from "../process/config.server.ts";
import { faultOf } from "../process/fault.ts";
import { makeFolder, syncFile, syncFolder } from "../process/fsync.server.ts";
import { whyUnusable } from "../process/unusable.server.ts";

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
  if ("folder" in settings) return new FolderPlace(settings.folder);
  // Loaded where it is used: the SDK takes 20 MB of memory.
  const { BucketPlace } = await import("./bucket-place.server.ts");
  return new BucketPlace(settings.bucket);
}

class FolderPlace implements BackupPlace {
  readonly name: string;

  constructor(folder: string) {
    this.name = folder;
  }

  async put(name: string, path: string): Promise<void> {
    const to = join(this.name, name);
    makeFolder(dirname(to));
    // Two copies at once may bring the same file.
    const part = `${to}.${newId()}.part`;
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
    await mkdir(this.name, { recursive: true, mode: 0o700 }).catch((cause) => {
      const why = whyUnusable(cause);
      throw why ? new ConfigError(`BACKUP_URL: la carpeta ${this.name} ${why}.`, { cause }) : cause;
    });
    const folder = join(this.name, prefix);
    const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error) => {
      if (faultOf(error).code === "ENOENT") return [];
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
      await rmdir(join(this.name, folder)).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOTEMPTY" && error.code !== "ENOENT") throw error;
      });
    }
  }

  close(): void {}
}
