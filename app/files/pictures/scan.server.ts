import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { runWorker, TooMuch } from "../../process/child-process.server.ts";

/** `pages`: of a PDF, which ones, from 1; of an image, there is only the first. `folder`: an empty one for what is needed meanwhile. */
export type ScanJob = { path: string; mediaType: string; pages: number[]; folder: string };
/** The text of each page, in the order of `pages`; empty where nothing could be made out. */
export type ScanAnswer = { texts: string[] };

// In ms. A page takes two or three seconds, one that lies on its side a dozen, starting one and a half.
const timeAtMost = 90_000;

/** The text in pictures of pages, recognised in a child process, within bounds. An image that takes too much has no text. */
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
