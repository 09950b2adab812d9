import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { runWorker } from "../../process/child-process.server.ts";

/** A file that came with an e-mail, on disk. */
export type Attachment = { path: string; name: string; size: number };

/** An e-mail as it is read in a process of its own. `headers`: all of them in order, names in small letters. */
export type IncomingMail = {
  headers: [name: string, value: string][];
  from: string[];
  subject: string;
  text: string;
  attachments: Attachment[];
};
export type ReadJob = { path: string; folder: string };
export type ReadAnswer = IncomingMail | { refused: true };

/** Reads an e-mail (RFC 5322, MIME) in a child process, gives it to `use` and removes its attachments; undefined if unreadable. */
export async function withMessage<Result>(
  path: string,
  use: (mail: IncomingMail) => Promise<Result>,
): Promise<Result | undefined> {
  const program = new URL(`./mail.worker${extname(import.meta.filename)}`, import.meta.url);
  const folder = await mkdtemp(join(tmpdir(), "tertulia-correo-"));
  try {
    const job: ReadJob = { path, folder };
    const answer = await runWorker<ReadAnswer>(program, job);
    return "refused" in answer ? undefined : await use(answer);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
