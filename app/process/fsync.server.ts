import { closeSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Syncs a folder, so that the names in it survive a power loss: a file without its name is lost, even if its content was
 * synced.
 */
export const syncFolder = (path: string): void => syncFile(path);

/** Syncs the content of a file. */
export function syncFile(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Creates a folder and its parents and syncs them. Only the owner may read it. */
export function makeFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (!first) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) syncFolder(dirname(made));
}
