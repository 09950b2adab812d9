import type { Pool, PoolClient } from "pg";
import type { Log } from "../../process/log.server.ts";

// In ms: how often PostgreSQL is asked for a sign of life, and how long it may take to give one. Any other query may take longer.
const askEvery = 5_000;
const answersWithin = 15_000;

/**
 * Ends the connections to a PostgreSQL that has gone without closing them: its machine is off, or their address leads to another one by
 * now. TCP would keep each of them for a quarter of an hour, with whoever waits for an answer on it, until the pool has none left. A query
 * that is merely slow is let be, because PostgreSQL answers the heartbeat meanwhile.
 */
export class Heartbeat {
  readonly #connections = new Set<PoolClient>();
  readonly #log: Log;

  constructor(pool: Pool, log: Log) {
    this.#log = log;
    pool.on("connect", (client) => this.#connections.add(client));
    pool.on("remove", (client) => this.#connections.delete(client));
  }

  /** Asks on this connection every few seconds, until the function that is returned is called. */
  follow(client: PoolClient): () => void {
    let stopped = false;
    let timer = setTimeout(ask, askEvery).unref();
    const ending = (why: string) => !stopped && this.#endAll(why);
    async function ask() {
      let answered = false;
      // After a pause of the whole process this timer comes before an answer that lies ready; setImmediate comes after it.
      timer = setTimeout(() => setImmediate(() => answered || ending("no contesta")), answersWithin).unref();
      // A connection that breaks answers nothing, and its owner hears of it.
      const answer = await client
        .query<{ follows: boolean }>("select pg_is_in_recovery() as follows")
        .catch(() => null);
      answered = true;
      clearTimeout(timer);
      if (stopped || !answer) return;
      // Nothing can be written there: another one has taken its place, and new connections lead to that one.
      if (answer.rows[0]?.follows) ending("solo deja leer");
      else timer = setTimeout(ask, askEvery).unref();
    }
    return () => {
      stopped = true;
      clearTimeout(timer);
    };
  }

  #endAll(why: string): void {
    this.#log.error({ connections: this.#connections.size }, `PostgreSQL ${why}: se abren otras conexiones`);
    const error = Object.assign(new Error(`PostgreSQL ${why}`), { code: "ETIMEDOUT" });
    for (const { connection } of this.#connections) connection.stream.destroy(error);
  }
}
