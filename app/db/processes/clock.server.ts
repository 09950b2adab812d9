import { sql } from "kysely";
import type { Log } from "../../process/log.server.ts";
import type { Db } from "../engine.server.ts";

// In ms: how often the clocks are compared, and from when on a difference is told.
const compareEvery = 60_000;
const toldFrom = 5_000;

/**
 * The clock that all processes on one database share. Signs of life are compared between processes, whose own clocks may be an hour
 * apart; each therefore measures how far its clock is from PostgreSQL's. With SQLite there is one process and one clock.
 */
export class SharedClock {
  /** How far this process's clock is ahead of the shared one, in ms; negative if it is behind. */
  ahead = 0;
  #timer: NodeJS.Timeout | undefined;

  now(): number {
    return Date.now() - this.ahead;
  }

  /** Measures now, and again every minute until `stop`. */
  async follow(db: Db, log: Log): Promise<void> {
    const measure = async () => {
      const asked = Date.now();
      const { rows } = await sql<{ now: number }>`select extract(epoch from clock_timestamp()) * 1000 as now`.execute(
        db,
      );
      const answered = Date.now();
      // The database read its clock somewhere between the question and the answer.
      this.ahead = Math.round((asked + answered) / 2 - Number(rows[0]?.now));
      if (Math.abs(this.ahead) > toldFrom) log.warn({ ahead: this.ahead }, "el reloj no va con el de la base de datos");
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
