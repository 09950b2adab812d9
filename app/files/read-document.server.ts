import { extname } from "node:path";
import { runWorker, TooMuch } from "../process/child-process.server.ts";
import { FileRefused } from "./refused.server.ts";

export type Passage = { position: number; page: number | null; text: string; words: string };
/**
 * The text of a document and its passages; their `words` lack the word of the owner. `withoutText`: the numbers of pages without
 * text; empty for a document without pages.
 */
export type DocumentText = { text: string; pages: number | null; passages: Passage[]; withoutText: number[] };
/** `scanned`: the text of pages that are pictures, by their number, where it was recognised before. */
export type ReadingJob = { path: string; mediaType: string; scanned?: Map<number, string> };
/** `fault`: stack of an error that no reader has foreseen. */
export type ReadingAnswer = { reading: DocumentText } | { refused: string; fault?: string | undefined };

/** Reads a document in a child process. Throws FileRefused. */
export async function readDocument(job: ReadingJob): Promise<DocumentText> {
  // Beside this module, both in the source and in the build.
  const program = new URL(`./reading.worker${extname(import.meta.filename)}`, import.meta.url);
  try {
    const answer = await runWorker<ReadingAnswer>(program, job);
    if ("refused" in answer) throw new FileRefused(answer.refused, { cause: answer.fault });
    return answer.reading;
  } catch (error) {
    throw error instanceof TooMuch
      ? new FileRefused("es demasiado grande o complicado por dentro para leerlo.", { cause: error })
      : error;
  }
}
