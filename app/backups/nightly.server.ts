import { join } from "node:path";
import type { Storage } from "../files/storage/storage.server.ts";
import type { JobRules } from "../jobs/jobs.server.ts";
import type { BackupSettings, Config } from "../process/config.server.ts";
import type { Log } from "../process/log.server.ts";
import { lastCopyAt, makeCopy, type Sources } from "./copies.server.ts";
import { openPlace } from "./place.server.ts";

type Settings = Pick<Config, "dataDir" | "databaseUrl" | "secret" | "backupPassphrase">;

const lookEvery = 10 * 60_000;
// By this machine's clock.
const nightHour = 3;
// In ms: most that the page of the system and the metrics wait for the place of the copies, and how long its answer is used again.
const answersWithin = 5_000;
const usedAgainFor = 60_000;

/** The sources of a copy, by the settings. */
export function sourcesOf({ dataDir, databaseUrl, secret }: Settings, storage: Storage): Sources {
  const database = databaseUrl
    ? ({ engine: "postgres", url: databaseUrl } as const)
    : ({ engine: "sqlite", path: join(dataDir, "tertulia.db") } as const);
  return { database, storage, secret, dir: dataDir };
}

/** How the copy of each night is made, by one process. */
export const backingUp = (backup: BackupSettings, config: Settings, storage: Storage, log: Log): JobRules => ({
  atOnce: 1,
  retries: [],
  every: lookEvery,
  async work() {
    const place = await openPlace(backup);
    try {
      if (!isDue(await lastCopyAt(place), new Date())) return;
      const { name, size, counts } = await makeCopy(place, config.backupPassphrase, sourcesOf(config, storage));
      log.info({ name, size, ...counts }, "copia hecha y comprobada");
    } finally {
      place.close();
    }
  },
});

/** Whether a night has come since the last copy. */
export function isDue(last: number | undefined, now: Date): boolean {
  if (last === undefined) return true;
  const night = new Date(now);
  night.setHours(nightHour, 0, 0, 0);
  if (night > now) night.setDate(night.getDate() - 1);
  return last < night.getTime();
}

/** When the last good copy was made, for pages and metrics: asked at most once a minute. */
export class LastCopy {
  readonly #settings: BackupSettings | undefined;
  #asked: { at: number; answer: Promise<number | undefined> } | undefined;

  constructor(settings: BackupSettings | undefined) {
    this.#settings = settings;
  }

  get isWanted(): boolean {
    return this.#settings !== undefined;
  }

  /** In epoch ms; undefined where there is none. Rejects where the place does not answer. */
  at(): Promise<number | undefined> {
    if (!this.#asked || performance.now() - this.#asked.at > usedAgainFor) {
      this.#asked = { at: performance.now(), answer: this.#ask() };
    }
    return this.#asked.answer;
  }

  async #ask(): Promise<number | undefined> {
    if (!this.#settings) return undefined;
    const place = await openPlace(this.#settings);
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error(`${place.name} does not answer`)), answersWithin);
    try {
      return await Promise.race([lastCopyAt(place), late]);
    } finally {
      clearTimeout(timer);
      place.close();
    }
  }
}
