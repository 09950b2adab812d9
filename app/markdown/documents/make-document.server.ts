import { extname } from "node:path";
import { runWorker, TooMuch } from "../../process/child-process.server.ts";
import type { OfficeDocument } from "./office-document.server.ts";

/** Media types by formats. */
export const officeTypes = {
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  odt: "application/vnd.oasis.opendocument.text",
} as const;

/** A conversation as a document of an office, made in a child process; undefined if it takes too much time or memory. */
export async function makeDocument(job: OfficeDocument): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const program = new URL(`./document.worker${extname(import.meta.filename)}`, import.meta.url);
  try {
    return new Uint8Array(await runWorker<Uint8Array>(program, job));
  } catch (error) {
    if (error instanceof TooMuch) return undefined;
    throw error;
  }
}
