import { closeSync, fdatasync, fstatSync, openSync, readSync } from "node:fs";
import { dirname, extname } from "node:path";
import { promisify } from "node:util";
import { runWorker } from "../../process/child-process.server.ts";
import { syncFolder } from "../../process/fsync.server.ts";
import type { Log } from "../../process/log.server.ts";

const syncData = promisify(fdatasync);

// Offsets in the header of the WAL index (sqlite.org/walformat.html): pages in the log, and those copied to the database.
const inLog = 16;
const copied = 96;
// In pages of 4 kB (32 MB). SQLite's own default is 1,000 pages; it is eight times that here because each checkpoint costs a process.
const checkpointAfter = 8_000;
// In ms, from one checkpoint's beginning to the next: one that fails, or that a long read keeps from finishing, leaves the log long,
// and every sync would start another process.
const checkpointEvery = 10_000;
// In pages (128 MB): this many uncopied pages get a checkpoint at once, however recent the last one is.
const checkpointAtOnce = 32_000;
// In ms without a commit, after which a log of more than `longAtRest` bytes is emptied.
const restsAfter = 8_000;
const longAtRest = 16 * 1024 * 1024;
// In ms: a disk that takes longer has other troubles.
const checkpointedWithin = 5 * 60_000;

/**
 * Makes commits of SQLite durable: with `synchronous=normal` a commit is only written to the log, and `synced` syncs the log to the
 * disk, off the main thread, once for all commits since the last sync. The answer to a write waits for `synced`.
 */
export class SharedSync {
  readonly #path: string;
  readonly #log: Log;
  /** Descriptors of the log and of its index. */
  #files: { log: number; index: number } | undefined;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;
  #checkpointing: Promise<void> | undefined;
  #checkpointedAt = Number.NEGATIVE_INFINITY;
  #resting: NodeJS.Timeout | undefined;

  /** `path`: the database's file. */
  constructor(path: string, log: Log) {
    this.#path = path;
    this.#log = log;
  }

  /** Resolves when everything that has been committed until now is on the disk. */
  synced(): Promise<void> {
    // A sync that has begun may have missed the last commit.
    this.#next ??= (this.#running ?? Promise.resolve())
      .catch(() => {})
      .then(() => {
        this.#running = this.#next;
        this.#next = undefined;
        return this.#sync();
      });
    return this.#next;
  }

  async #sync(): Promise<void> {
    this.#files ??= this.#open();
    const { log, index } = this.#files;
    await syncData(log);
    this.#resting ??= setTimeout(() => this.#rest(), restsAfter).unref();
    this.#resting.refresh();
    const waiting = this.#waiting(index);
    const isSoon = performance.now() - this.#checkpointedAt < checkpointEvery && waiting < checkpointAtOnce;
    if (waiting >= checkpointAfter && !isSoon) this.#checkpoint(false);
  }

  #rest(): void {
    if (this.#files && fstatSync(this.#files.log).size > longAtRest) this.#checkpoint(true);
  }

  /** Copies the log into the database, in another process: here it would hold up everybody for as long as the disk takes. */
  #checkpoint(isResting: boolean): void {
    if (this.#checkpointing) return;
    this.#checkpointedAt = performance.now();
    const program = new URL(`./checkpoint.worker${extname(import.meta.filename)}`, import.meta.url);
    this.#checkpointing = runWorker<boolean>(program, { path: this.#path, isResting }, checkpointedWithin)
      .then((isDone) => {
        // Somebody reads for long.
        if (isResting && !isDone) this.#resting?.refresh();
      })
      .catch((error: Error) =>
        this.#log.error({ err: error }, "no se pudo pasar el registro de la base de datos a su fichero"),
      )
      .finally(() => {
        this.#checkpointing = undefined;
      });
  }

  /**
   * Both files stay open until the database is closed: SQLite's locks are on the index, and POSIX gives up all locks of a process
   * on a file when the process closes any descriptor of it.
   */
  #open() {
    const files = { log: openSync(`${this.#path}-wal`, "r+"), index: openSync(`${this.#path}-shm`, "r") };
    // The log has just been created: without its directory entry on the disk it would be lost.
    syncFolder(dirname(this.#path));
    return files;
  }

  /** How many pages of the log are not in the database yet. */
  #waiting(index: number): number {
    const header = Buffer.alloc(copied + 4);
    readSync(index, header, 0, header.length, 0);
    // The index is in the machine's own byte order, which is little-endian wherever Node runs.
    return header.readUInt32LE(inLog) - header.readUInt32LE(copied);
  }

  /** Call it once the database is closed. The data folder stays locked until a checkpoint that is under way has ended. */
  async close(): Promise<void> {
    await this.#running?.catch(() => {});
    clearTimeout(this.#resting);
    await this.#checkpointing;
    if (this.#files) for (const file of Object.values(this.#files)) closeSync(file);
  }
}
