import { closeSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

/** Puts the names in a folder on the disk: a file whose name a power loss takes is gone, whatever was written into it. */
export function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Makes a folder, and those around it, that no power loss takes. Only its owner may look into it. */
export function makeFolder(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (!first) return;
  for (let made = path; made.length >= first.length; made = dirname(made)) syncFolder(dirname(made));
}
