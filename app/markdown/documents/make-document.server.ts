import { extname } from "node:path";
import { runWorker, TooMuch } from "../../process/child-process.server.ts";
import { FairQueue } from "../../process/work/fair-queue.server.ts";
import { draw } from "../drawings/draw.server.ts";
import { drawingsIn } from "../drawings/drawings-in.server.ts";
import type { DocumentJob } from "./document.worker.ts";
import type { OfficeDocument, OfficePictures, OfficeSheet } from "./office-document.server.ts";

/** Media types by formats. */
export const officeTypes = {
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  odt: "application/vnd.oasis.opendocument.text",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
} as const;

// Pictures of one document; further ones stay code.
const picturesAtMost = 60;
// Each document may need a gigabyte for a moment.
const queue = new FairQueue(2);

/**
 * A conversation, a text or a table as an office document, made in a child process; undefined if that takes too much time or memory.
 * `owner`: key by which turns in the fair queue are shared.
 */
export async function makeDocument(
  job: OfficeDocument | OfficeSheet,
  owner: string,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const program = new URL(`./document.worker${extname(import.meta.filename)}`, import.meta.url);
  try {
    const pictures = job.format === "xlsx" ? {} : await picturesIn(job, owner);
    const work: DocumentJob = { ...job, pictures };
    return await queue.run(owner, () => runWorker<Uint8Array<ArrayBuffer>>(program, work));
  } catch (error) {
    if (error instanceof TooMuch) return undefined;
    throw error;
  }
}

async function picturesIn({ turns }: OfficeDocument, owner: string): Promise<OfficePictures> {
  const sources = turns.flatMap(({ markdown }) => drawingsIn(markdown)).slice(0, picturesAtMost);
  const pictures: OfficePictures = {};
  for (const source of sources) {
    const picture = await draw(source, owner);
    if ("svg" in picture) pictures[source.key] = picture;
  }
  return pictures;
}
