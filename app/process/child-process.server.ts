import { fork } from "node:child_process";
import { readFileSync } from "node:fs";

/** A child process used more time or memory than allowed. */
export class TooMuch extends Error {
  override name = "TooMuch";
}

// In ms of work, not of waiting: a busy machine takes no job for a long one.
const timeAtMost = 30_000;
// A job that does not work, but does not end either, is ended after so many times that.
const waitsAtMost = 4;
const heapMb = 512;
// Added to the heap limit: inflated pages and archives live outside the heap.
const memoryMb = 1024;
const watchEvery = 50;
const pageSize = 4096;
// Linux' unit of a process's time in /proc, in ms.
const tick = 10;
const stderrKept = 4_000;

/**
 * Runs one job in a child process, with limits on its time of work (ms) and its memory. A thread would not do: one that runs out of heap
 * inside JSON.parse ends the whole server. Throws TooMuch, and the reason of `signal`.
 */
export async function runWorker<Answer>(
  file: URL,
  job: unknown,
  time = timeAtMost,
  signal?: AbortSignal,
): Promise<Answer> {
  signal?.throwIfAborted();
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
  const leave = () => reject(signal?.reason);
  signal?.addEventListener("abort", leave);
  const begun = performance.now();
  const watch = setInterval(() => {
    const passed = performance.now() - begun;
    // Threads of one process work at the same time, and together take longer than has passed.
    const worked = Math.min(passed, workOf(child.pid) ?? passed);
    if (worked > time || passed > time * waitsAtMost) reject(new TooMuch("time"));
    if (memoryOf(child.pid) > memoryMb * 1024 * 1024) reject(new TooMuch("memory"));
  }, watchEvery);
  child.once("message", (answer) => resolve(answer as Answer));
  // When no process can be started, both this event and `send` report it.
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
    signal?.removeEventListener("abort", leave);
    clearInterval(watch);
    child.kill("SIGKILL");
  }
}

/** Time that a process has worked, in ms; undefined on systems without Linux's /proc. */
function workOf(pid: number | undefined): number | undefined {
  try {
    // The name of the program, in brackets, may hold blanks.
    const fields = readFileSync(`/proc/${pid}/stat`, "latin1")
      .replace(/^.*\) /s, "")
      .split(" ");
    return (Number(fields[11]) + Number(fields[12])) * tick;
  } catch {
    // No /proc, or the process has just exited.
    return undefined;
  }
}

/** Resident memory of a process in bytes; 0 on systems without Linux's /proc. */
function memoryOf(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * pageSize;
  } catch {
    // No /proc, or the process has just exited.
    return 0;
  }
}
