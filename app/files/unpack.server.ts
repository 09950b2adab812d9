import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { runWorker, TooMuch } from "../process/child-process.server.ts";
import { FileRefused } from "./refused.server.ts";

/** A file on disk, taken out of an archive. `refused`: reason why it could not be taken out. */
export type Unpacked = { path: string; name: string; size: number; refused?: string };
export type UnpackJob = { path: string; folder: string; filesAtMost: number };
export type UnpackAnswer = { files: Unpacked[] } | { refused: string };

const filesAtMost = 500;

/** Whether a file is a ZIP by its name and its first bytes; office documents are ZIPs by their first bytes alone. */
export async function isArchive(path: string, name: string): Promise<boolean> {
  if (!/\.zip$/i.test(name)) return false;
  const handle = await open(path);
  try {
    const { buffer } = await handle.read(Buffer.alloc(4), 0, 4, 0);
    return buffer.toString("latin1") === "PK\x03\x04";
  } finally {
    await handle.close();
  }
}

/**
 * Takes the files out of a ZIP, in a child process, gives them to `use` and removes them. Throws FileRefused if it is damaged, has a
 * password, or holds too much.
 */
export async function unpacked<Result>(path: string, use: (files: Unpacked[]) => Promise<Result>): Promise<Result> {
  const program = new URL(`./unpack.worker${extname(import.meta.filename)}`, import.meta.url);
  const folder = await mkdtemp(join(tmpdir(), "tertulia-recibido-"));
  try {
    const job: UnpackJob = { path, folder, filesAtMost };
    const answer = await runWorker<UnpackAnswer>(program, job).catch((cause) => {
      if (cause instanceof TooMuch) throw new FileRefused("es demasiado grande por dentro para abrirlo.", { cause });
      throw cause;
    });
    if ("refused" in answer) throw new FileRefused(answer.refused);
    return await use(answer.files);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
