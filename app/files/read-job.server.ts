import { setImmediate } from "node:timers/promises";
import type { Db } from "../db/engine.server.ts";
import { indexPassages, nameWords } from "../db/search/passages.server.ts";
import type { FileRow } from "../db/tables.ts";
import { type JobAtWork, JobFailed, type JobRules } from "../jobs/jobs.server.ts";
import { scanPages } from "./pictures/scan.server.ts";
import { type DocumentText, readDocument } from "./read-document.server.ts";
import { FileRefused } from "./refused.server.ts";
import type { Storage } from "./storage/storage.server.ts";

type ReadServices = { db: Db; storage: Storage };

// Each document may need half a gigabyte for a moment.
const atOnce = 2;
const retries = [10_000, 60_000, 10 * 60_000];
// Scanned pages in one child process, and scanned pages of one document; each takes two or three seconds.
const scannedAtOnce = 4;
const scannedAtMost = 200;
// Few enough that storing them causes no noticeable pause.
const passagesAtOnce = 40;

/** Job that reads a document: stores its text and passages, or the reason why there is no text. */
export const documentReading = ({ db, storage }: ReadServices): JobRules => ({
  atOnce,
  retries,
  work: (job) => readStored({ db, storage }, job),
  async failed({ subjectId }, problem) {
    // A picture stays ready, and without a problem, even if its text was not recognised.
    await db.updateTable("files").set({ problem }).where("id", "=", subjectId).where("ready", "=", 0).execute();
  },
});

async function readStored({ db, storage }: ReadServices, { subjectId, progress }: JobAtWork): Promise<void> {
  const file = await db
    .selectFrom("files")
    .where("id", "=", subjectId)
    .where((e) => e.or([e("ready", "=", 0), e("text", "is", null)]))
    .select(["id", "userId", "name", "mediaType"])
    .executeTakeFirst();
  // Deleted meanwhile, or read by an attempt whose end was not stored.
  if (!file) return;
  const reading = await storage
    .lend(file.id, "original", (path) => read({ path, mediaType: file.mediaType }, progress))
    .catch((error) => {
      throw error instanceof FileRefused ? new JobFailed(error.message, { cause: error }) : error;
    });
  if (!reading) throw new JobFailed("su contenido ya no está en el servidor.");
  await store(db, file, reading, progress);
}

/** Reads a document; the text of images and scanned pages is recognised first. */
async function read(
  document: { path: string; mediaType: string },
  progress: JobAtWork["progress"],
): Promise<DocumentText> {
  const isImage = document.mediaType.startsWith("image/");
  const reading = isImage ? undefined : await readDocument(document);
  const pictures = isImage ? [1] : (reading?.pictured ?? []);
  const scanned = new Map<number, string>();
  for (let at = 0; at < Math.min(pictures.length, scannedAtMost); at += scannedAtOnce) {
    await progress(at, pictures.length);
    const pages = pictures.slice(at, at + scannedAtOnce);
    const texts = await scanPages({ ...document, pages });
    for (const [index, page] of pages.entries()) scanned.set(page, texts[index] ?? "");
  }
  return reading && scanned.size === 0 ? reading : readDocument({ ...document, scanned });
}

async function store(
  db: Db,
  { id, userId, name }: Pick<FileRow, "id" | "userId" | "name">,
  { passages, text, pages }: DocumentText,
  progress: JobAtWork["progress"],
): Promise<void> {
  const called = nameWords(name);
  const indexed = passages.map((passage) => ({ ...passage, words: `${passage.words} ${called}` }));
  // Passages of an attempt that was cut off.
  await db.deleteFrom("passages").where("fileId", "=", id).execute();
  for (let at = 0; at < passages.length; at += passagesAtOnce) {
    await progress(at, passages.length);
    await indexPassages(db, userId, { fileId: id }, indexed.slice(at, at + passagesAtOnce));
    // SQLite runs synchronously; this lets other requests run in between.
    await setImmediate();
  }
  await db.updateTable("files").set({ text, pages, ready: 1, problem: null }).where("id", "=", id).execute();
}
