import { extname } from "node:path";
import { runWorker, TooMuch } from "../process/child-process.server.ts";

/** `pages`: of a PDF, which ones, from 1; of an image, there is only the first. */
export type ScanJob = { path: string; mediaType: string; pages: number[] };
/** The text of each page, in the order of `pages`; empty where nothing could be made out. */
export type ScanAnswer = { texts: string[] };

// In ms. A page takes two or three seconds, starting one and a half.
const timeAtMost = 60_000;

/** The text in pictures of pages, recognised in a child process, within bounds. What takes too much has no text. */
export async function scanPages(job: ScanJob): Promise<string[]> {
  const program = new URL(`./scan.worker${extname(import.meta.filename)}`, import.meta.url);
  try {
    return (await runWorker<ScanAnswer>(program, job, timeAtMost)).texts;
  } catch (error) {
    if (error instanceof TooMuch) return job.pages.map(() => "");
    throw error;
  }
}
