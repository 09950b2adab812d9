import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { FileRefused } from "./refused.server.ts";

export type Passage = { position: number; page: number | null; text: string; words: string };
/** The text of a document and the passages that search finds, their words without the owner. */
export type Reading = { text: string; pages: number | null; passages: Passage[] };
export type ReadingJob = { path: string; mediaType: string };
export type ReadingAnswer = { reading: Reading } | { refused: string };

const timeAtMost = 30_000;
const heapMb = 384;
// Beyond the heap: what inflates a page or an archive lies outside it.
const memoryMb = 700;
const watchEvery = 50;

/** Reads a document in a thread of its own, with bounds on time and memory; nothing else waits for it. Throws FileRefused. */
export async function readDocument(job: ReadingJob): Promise<Reading> {
  // Beside this module, in the source and in the build alike.
  const file = new URL(`./reading.worker${extname(import.meta.filename)}`, import.meta.url);
  const worker = new Worker(file, { workerData: job, resourceLimits: { maxOldGenerationSizeMb: heapMb } });
  const { promise, resolve, reject } = Promise.withResolvers<ReadingAnswer>();
  const tooMuch = () => reject(new FileRefused("es demasiado grande o complicado por dentro para leerlo."));
  const before = process.memoryUsage.rss();
  const timer = setTimeout(tooMuch, timeAtMost);
  const watch = setInterval(() => {
    if (process.memoryUsage.rss() - before > memoryMb * 1024 * 1024) tooMuch();
  }, watchEvery);
  worker.once("message", resolve);
  worker.once("error", (error: NodeJS.ErrnoException) =>
    error.code === "ERR_WORKER_OUT_OF_MEMORY" ? tooMuch() : reject(error),
  );
  worker.once("exit", () => reject(new Error("the reading thread ended without an answer")));
  try {
    const answer = await promise;
    if ("refused" in answer) throw new FileRefused(answer.refused);
    return answer.reading;
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    await worker.terminate();
  }
}
