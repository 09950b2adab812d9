import { createHash } from "node:crypto";
import type { Storage, StoredFile } from "./storage.server.ts";

/** Figures of a copy: how many variants there are, how many of them had to be copied, and their bytes. */
export type Copied = { files: number; copied: number; bytes: number };

/**
 * Copies everything that is stored, and reads it back: each variant is compared by its SHA-256. An equal copy that is there already is
 * left, so a copy that broke off can be begun again. Throws an Error that names the first variant that differs.
 */
export async function copyStorage(from: Storage & { path(file: StoredFile): string }, to: Storage): Promise<Copied> {
  const done: Copied = { files: 0, copied: 0, bytes: 0 };
  for await (const file of from.list()) {
    const { id, variant, size } = file;
    const source = await sum(from, file);
    // Deleted since it was listed.
    if (source === undefined) continue;
    if ((await sum(to, file)) !== source) {
      await to.put(id, variant, from.path(file));
      if ((await sum(to, file)) !== source) throw new Error(`${id}.${variant} no ha llegado igual.`);
      done.copied++;
    }
    done.files++;
    done.bytes += size;
  }
  return done;
}

async function sum(storage: Storage, { id, variant }: StoredFile): Promise<string | undefined> {
  const content = await storage.stream(id, variant);
  if (!content) return;
  const hash = createHash("sha256");
  for await (const part of content.read()) hash.update(part);
  return hash.digest("hex");
}
