import { Worker } from "node:worker_threads";

/** A worker that took more time or memory than it may. */
export class TooMuch extends Error {
  override name = "TooMuch";
}

const timeAtMost = 30_000;
const heapMb = 512;
// Beyond the heap: what inflates a page or an archive lies outside it.
const memoryMb = 800;
const watchEvery = 50;

/** Has a program of ours work in a thread of its own, with bounds on time and memory; nothing else waits for it. Throws TooMuch. */
export async function runWorker<Answer>(file: URL, job: unknown): Promise<Answer> {
  const worker = new Worker(file, { workerData: job, resourceLimits: { maxOldGenerationSizeMb: heapMb } });
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const tooMuch = () => reject(new TooMuch());
  const before = process.memoryUsage.rss();
  const timer = setTimeout(tooMuch, timeAtMost);
  const watch = setInterval(() => {
    if (process.memoryUsage.rss() - before > memoryMb * 1024 * 1024) tooMuch();
  }, watchEvery);
  worker.once("message", resolve);
  worker.once("error", (error: NodeJS.ErrnoException) =>
    error.code === "ERR_WORKER_OUT_OF_MEMORY" ? tooMuch() : reject(error),
  );
  worker.once("exit", () => reject(new Error("the worker ended without an answer")));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    await worker.terminate();
  }
}
