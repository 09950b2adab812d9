import { sql } from "kysely";
import type { Log } from "../../process/log.server.ts";
import type { Db } from "../engine.server.ts";

// In ms: how often the clocks are compared, and from when on a difference is told.
const compareEvery = 60_000;
const toldFrom = 5_000;

/**
 * The clock that all processes on one database share. Signs of life are compared between processes, whose own clocks may be an hour
 * apart, or be set while they run; each process therefore adds the time since it last asked PostgreSQL to the time of that answer. With
 * SQLite there is one process and one clock.
 */
export class SharedClock {
  /** PostgreSQL's time in epoch ms, and this process's monotonic time then. */
  #measured: { shared: number; at: number } | undefined;
  #timer: NodeJS.Timeout | undefined;

  now(): number {
    const { shared, at } = this.#measured ?? {};
    return shared === undefined || at === undefined ? Date.now() : Math.round(shared + performance.now() - at);
  }

  /** How far this process's clock is ahead of the shared one, in ms; negative if it is behind. */
  get ahead(): number {
    return Date.now() - this.now();
  }

  /** Reads the database's clock now, and every minute until `stop`. */
  async follow(db: Db, log: Log): Promise<void> {
    const measure = async () => {
      const asked = performance.now();
      const { rows } = await sql<{ now: number }>`select extract(epoch from clock_timestamp()) * 1000 as now`.execute(
        db,
      );
      // The database read its clock somewhere between the question and the answer.
      this.#measured = { shared: Number(rows[0]?.now), at: (asked + performance.now()) / 2 };
      const { ahead } = this;
      if (Math.abs(ahead) > toldFrom) log.warn({ ahead }, "el reloj no va con el de la base de datos");
    };
    await measure();
    this.#timer = setInterval(() => {
      measure().catch((error) => log.warn({ err: error }, "no se pudo comparar el reloj"));
    }, compareEvery).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
