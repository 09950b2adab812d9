import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { AggregatorRegistry } from "@prometheus-io/client";
import type { Config } from "../config.server.ts";
import { createLog, type Log } from "../log.server.ts";
import { type AllMetrics, metricsWanted } from "../telemetry/metrics.server.ts";

// In ms. An ending worker has the 20 s of its replies and some more; a starting worker may have to migrate the database first.
const endsWithin = 30_000;
const listensWithin = 120_000;
// In ms, before a worker that has died is replaced; doubled each time that its successor dies within a minute.
const replacedAfter = 500;
const replacedAfterAtMost = 30_000;
const livesLong = 60_000;
// In ms. A worker that gives no sign of life for so long stands still: stopped, or in an endless loop.
const signEvery = 5_000;
const hungAfter = 20_000;
const sign = "alive";

/** Has a worker send signs of life to the process that has started it. */
export function showLife(): void {
  setInterval(() => process.send?.(sign), signEvery).unref();
}

/**
 * Keeps as many processes as asked for behind one port: replaces a process that dies, and on SIGHUP all of them one after the other,
 * each by a process that runs the program then on disk. On SIGTERM all of them end.
 */
export class Workers {
  readonly #count: number;
  readonly #config: Pick<Config, "publicUrl">;
  readonly #log: Log;
  /** Sums up the metrics of the workers, also of workers that are gone. */
  readonly #metrics = new AggregatorRegistry();
  readonly #serving = new Set<Worker>();
  /** Workers that were told to end. */
  readonly #leaving = new Set<Worker>();
  /** Each worker's last sign of life, by this process's monotonic clock. */
  readonly #seen = new WeakMap<Worker, number>();
  #pause = replacedAfter;
  #isClosing = false;
  #replacing: Promise<void> | undefined;

  constructor(count: number, config: Pick<Config, "publicUrl" | "logLevel">) {
    this.#count = count;
    this.#config = config;
    this.#log = createLog(config.logLevel);
  }

  /** Resolves once all workers listen. The first worker starts alone, so that only it meets an empty database or wrong settings. */
  async start(): Promise<void> {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void this.#close(signal));
    process.on("SIGHUP", () => this.replaceAll());
    const [address, code] = await this.#begin();
    // The worker has said why.
    if (!address) process.exit(code ?? 1);
    console.log(`Tertulia escucha en ${this.#config.publicUrl ?? `http://localhost:${address.port}`}`);
    await Promise.all(Array.from({ length: this.#count - 1 }, () => this.#begin()));
    this.#watch();
  }

  /** Kills workers that stand still; they are replaced like workers that die. */
  #watch(): void {
    let before = performance.now();
    setInterval(() => {
      const now = performance.now();
      // A late run means that this process stood still as well, as when the machine sleeps.
      const isLate = now - before > 2 * signEvery;
      before = now;
      for (const worker of this.#serving) {
        if (isLate) this.#seen.set(worker, now);
        if (now - (this.#seen.get(worker) ?? now) < hungAfter) continue;
        this.#log.error({ pid: worker.process.pid }, "un proceso no da señales de vida");
        worker.process.kill("SIGKILL");
      }
    }, signEvery).unref();
  }

  /** Replaces all workers, one after the other. While that lasts, asking again changes nothing. */
  replaceAll(): void {
    if (this.#isClosing) return;
    this.#replacing ??= this.#replaceEach()
      .catch((error) => this.#log.error({ err: error }, "no se pudieron renovar los procesos"))
      .finally(() => {
        this.#replacing = undefined;
      });
  }

  async #replaceEach(): Promise<void> {
    for (const old of [...this.#serving]) {
      const [address] = await this.#begin();
      // The program on disk does not start: the old processes stay.
      if (!address) throw new Error("a new process did not start");
      if (this.#isClosing) return;
      await this.#end(old, "SIGTERM");
    }
    this.#log.info({ processes: this.#serving.size }, "procesos renovados");
  }

  /** Starts a worker. Resolves with where it listens, or with its exit code. */
  async #begin(): Promise<[address: { port: number } | undefined, code?: number | null]> {
    const worker = cluster.fork();
    const startedAt = Date.now();
    let hasListened = false;
    worker.on("message", (message) => {
      if (message === metricsWanted) void this.#answer(worker);
      if (message === sign) this.#seen.set(worker, performance.now());
    });
    const late = setTimeout(() => hasListened || worker.process.kill("SIGKILL"), listensWithin).unref();
    const { promise, resolve } = Promise.withResolvers<[{ port: number } | undefined, (number | null)?]>();
    worker.on("listening", (address) => {
      hasListened = true;
      this.#seen.set(worker, performance.now());
      clearTimeout(late);
      this.#serving.add(worker);
      resolve([address]);
    });
    worker.on("exit", (code) => {
      resolve([undefined, code]);
      this.#serving.delete(worker);
      if (!this.#leaving.delete(worker) && hasListened) void this.#replace(worker, Date.now() - startedAt);
    });
    return promise;
  }

  async #replace({ process: { pid, exitCode, signalCode } }: Worker, lived: number): Promise<void> {
    if (this.#isClosing) return;
    this.#log.error({ pid, exitCode, signalCode }, "un proceso ha muerto; empieza otro en su lugar");
    this.#pause = lived > livesLong ? replacedAfter : Math.min(this.#pause * 2, replacedAfterAtMost);
    while (!this.#isClosing) {
      await wait(this.#pause);
      const [address] = this.#isClosing ? [] : await this.#begin();
      if (address) return;
      this.#pause = Math.min(this.#pause * 2, replacedAfterAtMost);
    }
  }

  async #answer(worker: Worker): Promise<void> {
    const answer: AllMetrics = {
      metrics: await this.#metrics.clusterMetrics().catch((error: Error) => `# ${error.message}\n`),
    };
    if (worker.isConnected()) worker.send(answer);
  }

  async #end(worker: Worker, signal: NodeJS.Signals): Promise<void> {
    this.#leaving.add(worker);
    const ended = worker.isDead() ? undefined : once(worker, "exit");
    worker.process.kill(signal);
    const late = setTimeout(() => worker.process.kill("SIGKILL"), endsWithin);
    await ended;
    clearTimeout(late);
  }

  async #close(signal: NodeJS.Signals): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    await Promise.all(workers.map((worker) => this.#end(worker, signal)));
    process.exit(0);
  }
}
