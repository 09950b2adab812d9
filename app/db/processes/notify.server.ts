import type { Pool } from "pg";
import type { Log } from "../../process/log.server.ts";
import { Heartbeat } from "./heartbeat.server.ts";

// In ms, before listening again after a lost connection. Notices in between are lost, but pages also refresh by themselves.
const againAfter = 1_000;
const channel = "tertulia";

/** Sends notices between processes that share a PostgreSQL (LISTEN and NOTIFY). A process also receives its own. */
export class PgNotify {
  readonly #pool: Pool;
  readonly #log: Log;
  readonly #heartbeat: Heartbeat;
  #closed = false;
  readonly #ends = new Set<() => void>();

  constructor(pool: Pool, log: Log) {
    this.#pool = pool;
    this.#log = log;
    this.#heartbeat = new Heartbeat(pool, log);
  }

  send(text: string): void {
    this.#pool.query("select pg_notify($1, $2)", [channel, text]).catch((error: Error) => {
      if (!this.#closed) this.#log.error({ err: error }, "no se pudo avisar a los demás procesos");
    });
  }

  /** Calls `hear` for each notice, over a connection of its own that is reopened when it breaks. */
  async listen(hear: (text: string) => void): Promise<void> {
    if (this.#closed) return;
    let end = () => {};
    let broken = false;
    // A connection that breaks during set-up reports the break twice.
    const again = () => {
      if (broken) return;
      broken = true;
      end();
      if (!this.#closed) setTimeout(() => this.listen(hear), againAfter).unref();
    };
    try {
      const client = await this.#pool.connect();
      const stop = this.#heartbeat.follow(client);
      end = () => {
        stop();
        this.#ends.delete(end);
        client.off("error", again);
        client.release(true);
      };
      this.#ends.add(end);
      client.on("error", again);
      client.on("notification", ({ payload }) => payload && hear(payload));
      await client.query(`listen ${channel}`);
    } catch (error) {
      this.#log.error({ err: error }, "no se oye a los demás procesos");
      again();
    }
  }

  close(): void {
    this.#closed = true;
    for (const end of [...this.#ends]) end();
  }
}
