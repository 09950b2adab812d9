import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { runWorker, TooMuch } from "../process/child-process.server.ts";
import { isImage, mediaTypeOf } from "./media-type.server.ts";
import { FileRefused } from "./refused.server.ts";

export type Passage = { position: number; page: number | null; text: string; words: string };
/**
 * The text of a document and its passages; their `words` lack the word of the owner. `pictured`: the numbers of pages whose
 * text has to be recognised.
 */
export type DocumentText = { text: string; pages: number | null; passages: Passage[]; pictured: number[] };
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

/** The text of a document that is not kept, by its bytes and its name; empty for scans. Throws FileRefused. */
export async function readBytes(bytes: Uint8Array, name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tertulia-documento-"));
  try {
    const path = join(folder, "archivo");
    await writeFile(path, bytes);
    const mediaType = await mediaTypeOf(path, name, bytes.length);
    if (isImage(mediaType)) throw new FileRefused("es una imagen.");
    return (await readDocument({ path, mediaType })).text;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
