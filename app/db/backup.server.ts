import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { backup, type DatabaseSync } from "node:sqlite";

/** Copies an open database into `folder` (SQLite's online backup) and answers the copy's path. */
export async function backUp(handle: DatabaseSync, folder: string, name: string): Promise<string> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${name}-${new Date().toISOString().replace(/[:.]/g, "-")}.db`);
  await backup(handle, path);
  return path;
}
