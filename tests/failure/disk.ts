import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { SystemCall } from "./system-calls.ts";

type Write = { at: number; bytes: Buffer } | { length: number };
type Inode = { folder: boolean; length: number; synced: Buffer; unsynced: Write[] };
type Naming = { folder: string; names: [path: string, inode: Inode | undefined][] };

// Unit that a disk writes whole or not at all, in bytes.
const sector = 512;

/**
 * Simulates a folder on a disk that guarantees only what POSIX does: a file's bytes after its own fsync, and its name after
 * the fsync of its folder. Of all other writes, any part may survive a power loss; real file systems keep more.
 */
export class Disk {
  readonly #root: string;
  /** Content as programs see it, and as it is on the disk for sure. */
  readonly #seen = new Map<string, Inode>();
  readonly #named = new Map<string, Inode>();
  /** Names given and taken away since their folder was synced, the oldest first. */
  #naming: Naming[] = [];

  constructor(root: string, files: Map<string, Buffer | undefined>) {
    this.#root = root;
    for (const [path, bytes] of files) {
      const inode = newInode(bytes === undefined);
      if (bytes) Object.assign(inode, { synced: bytes, length: bytes.length });
      this.#seen.set(path, inode);
      this.#named.set(path, inode);
    }
  }

  /** Does to this disk what a call did. `copied`: what a file has that the operating system has copied by itself. */
  apply({ name, paths, data, result, last, flags }: SystemCall, copied: (path: string) => Buffer): void {
    const [path = "", other = ""] = paths;
    if (![path, other].some((each) => each.startsWith(`${this.#root}/`) || each === this.#root)) return;
    if (name === "openat") {
      if (!flags.includes("O_CREAT")) return;
      if (!this.#seen.has(path)) this.#name([path, newInode(false)]);
      if (flags.includes("O_TRUNC")) this.#write(path, { length: 0 });
    } else if (name === "mkdir") this.#name([path, newInode(true)]);
    else if (name === "pwrite64") this.#write(path, { at: last, bytes: data.subarray(0, result) });
    else if (name === "write") this.#write(path, { at: this.#file(path).length, bytes: data.subarray(0, result) });
    else if (name === "sendfile") this.#write(path, { at: 0, bytes: copied(path) });
    else if (name === "copy_file_range") this.#write(other, { at: 0, bytes: copied(other) });
    else if (name === "ftruncate") this.#write(path, { length: last });
    else if (name === "fsync" || name === "fdatasync") this.#sync(path);
    else if (name === "unlink") this.#name([path, undefined]);
    else if (name === "rename") this.#name([other, this.#file(path)], [path, undefined]);
    else throw new Error(`what does ${name} do to a disk?`);
  }

  /** Writes into another folder what is left when the power goes now; `chance`, from 0 to 1, decides about what is not synced. */
  losePower(into: string, chance: () => number): void {
    const left = new Map(this.#named);
    const asFarAs = Math.floor(chance() * (this.#naming.length + 1));
    for (const { names } of this.#naming.slice(0, asFarAs)) rename(left, names);
    for (const [path, { folder, synced, unsynced }] of [...left].sort(([a], [b]) => a.localeCompare(b))) {
      const target = join(into, relative(this.#root, path));
      if (folder) {
        if (this.#hasFolder(left, path)) mkdirSync(target);
      } else if (this.#hasFolder(left, path)) {
        const written = unsynced.flatMap((write) => partOf(write, chance()));
        writeFileSync(target, withWrites(synced, written));
      }
    }
  }

  #hasFolder(left: Map<string, Inode>, path: string): boolean {
    const folder = dirname(path);
    return folder === this.#root || (left.has(folder) && this.#hasFolder(left, folder));
  }

  #file(path: string): Inode {
    const inode = this.#seen.get(path);
    if (!inode) throw new Error(`there is no ${path}`);
    return inode;
  }

  #write(path: string, write: Write): void {
    const inode = this.#file(path);
    inode.unsynced.push(write);
    inode.length = "length" in write ? write.length : Math.max(inode.length, write.at + write.bytes.length);
  }

  #sync(path: string): void {
    if (path !== this.#root && !this.#file(path).folder) {
      const inode = this.#file(path);
      inode.synced = withWrites(inode.synced, inode.unsynced);
      inode.unsynced = [];
      return;
    }
    for (const { folder, names } of this.#naming) if (folder === path) rename(this.#named, names);
    this.#naming = this.#naming.filter(({ folder }) => folder !== path);
  }

  #name(...names: Naming["names"]): void {
    rename(this.#seen, names);
    this.#naming.push({ folder: dirname(names[0]?.[0] ?? ""), names });
  }
}

/** Content of a folder: the bytes of files; of folders nothing. */
export function readFolder(root: string): Map<string, Buffer | undefined> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  return new Map(
    entries.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return [path, entry.isDirectory() ? undefined : readFileSync(path)];
    }),
  );
}

const newInode = (folder: boolean): Inode => ({ folder, length: 0, synced: Buffer.alloc(0), unsynced: [] });

function rename(names: Map<string, Inode>, changes: Naming["names"]): void {
  for (const [path, inode] of changes) {
    if (inode) names.set(path, inode);
    else names.delete(path);
  }
}

/** All, nothing, or the first sectors. */
function partOf(write: Write, chance: number): Write[] {
  if (chance < 1 / 3) return [];
  if (chance < 2 / 3 || "length" in write) return [write];
  const sectors = Math.floor((write.bytes.length / sector) * (chance - 2 / 3) * 3);
  return [{ at: write.at, bytes: write.bytes.subarray(0, sectors * sector) }];
}

function withWrites(before: Buffer, writes: Write[]): Buffer {
  let length = before.length;
  let longest = length;
  for (const write of writes) {
    length = "length" in write ? write.length : Math.max(length, write.at + write.bytes.length);
    longest = Math.max(longest, length);
  }
  const bytes = Buffer.alloc(longest);
  before.copy(bytes);
  for (const write of writes) {
    if ("length" in write) bytes.fill(0, write.length);
    else write.bytes.copy(bytes, write.at);
  }
  return bytes.subarray(0, length);
}
