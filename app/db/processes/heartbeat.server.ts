import type { Pool, PoolClient } from "pg";
import type { Log } from "../../process/log.server.ts";

// In ms: how often PostgreSQL is asked for a sign of life, and how long it may take to give one. Any other query may take longer.
const askEvery = 5_000;
const answersWithin = 15_000;

/**
 * Ends the connections to a PostgreSQL that has gone without closing them: its machine is off, or the address leads to another server by
 * now. TCP would keep each connection, and the callers that wait for an answer on it, for a quarter of an hour, until the pool is used up.
 * A query that is merely slow is not ended, because PostgreSQL answers the heartbeat meanwhile.
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
      // After a pause of the whole process, this timer fires before a waiting answer is read; setImmediate fires after that.
      timer = setTimeout(() => setImmediate(() => answered || ending("no contesta")), answersWithin).unref();
      // A connection that breaks gives no answer, and its owner gets the error.
      const answer = await client
        .query<{ follows: boolean }>("select pg_is_in_recovery() as follows")
        .catch(() => null);
      answered = true;
      clearTimeout(timer);
      if (stopped || !answer) return;
      // This server is read-only now: another server has taken its place, and new connections lead to that server.
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
