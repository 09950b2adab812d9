import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { runWorker, TooMuch } from "../../process/child-process.server.ts";

/** `pages`: page numbers of a PDF, from 1; an image has only page 1. `folder`: an empty folder for temporary files. */
export type ScanJob = { path: string; mediaType: string; pages: number[]; folder: string };
/** The text of each page, in the order of `pages`; empty where nothing could be made out. */
export type ScanAnswer = { texts: string[] };

// In ms. An upright page takes two or three seconds, one with a table five, one that lies on its side a dozen, the start one and a half;
// an image may have twenty pages.
const timeAtMost = 180_000;

/** The text in pictures of pages, recognised in a child process. Beyond its bounds of time and memory, all texts are empty. */
export async function scanPages(job: Omit<ScanJob, "folder">): Promise<string[]> {
  // The child process does not know where this installation has its temporary files.
  const folder = await mkdtemp(join(tmpdir(), "tertulia-recibido-"));
  const program = new URL(`./scan.worker${extname(import.meta.filename)}`, import.meta.url);
  try {
    return (await runWorker<ScanAnswer>(program, { ...job, folder } satisfies ScanJob, timeAtMost)).texts;
  } catch (error) {
    if (error instanceof TooMuch) return job.pages.map(() => "");
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
