import { fork } from "node:child_process";
import { readFileSync } from "node:fs";

/** A worker that took more time or memory than it may. */
export class TooMuch extends Error {
  override name = "TooMuch";
}

const timeAtMost = 30_000;
const heapMb = 512;
// Beyond the heap: what inflates a page or an archive lies outside it.
const memoryMb = 1024;
const watchEvery = 50;
const pageSize = 4096;
const stderrKept = 4_000;

/**
 * Has a program of ours do one job in a process of its own, with bounds on time and memory: a thread that runs out of heap
 * in the middle of JSON.parse takes the whole server along. Throws TooMuch.
 */
export async function runWorker<Answer>(file: URL, job: unknown): Promise<Answer> {
  const child = fork(file, {
    execArgv: [`--max-old-space-size=${heapMb}`],
    env: {},
    serialization: "advanced",
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    said = (said + chunk).slice(-stderrKept);
  });
  const timer = setTimeout(() => reject(new TooMuch("time")), timeAtMost);
  const watch = setInterval(() => {
    if (memoryOf(child.pid) > memoryMb * 1024 * 1024) reject(new TooMuch("memory"));
  }, watchEvery);
  child.once("message", (answer) => resolve(answer as Answer));
  // A machine without room for another process says so here, and again by `send`.
  child.on("error", reject);
  child.once("exit", (code, signal) =>
    reject(
      /heap out of memory|heap limit/.test(said) ? new TooMuch("heap") : new Error(`worker ${code ?? signal}: ${said}`),
    ),
  );
  promise.catch(() => {});
  try {
    child.send(job as object);
    return await promise;
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
    child.kill("SIGKILL");
  }
}

/** Bytes of memory that a process takes; 0 where the system does not tell as Linux does. */
function memoryOf(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * pageSize;
  } catch {
    // Another system, or it has just ended.
    return 0;
  }
}
