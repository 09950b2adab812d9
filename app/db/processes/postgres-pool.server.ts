import { setTimeout as wait } from "node:timers/promises";
import type { PostgresPool } from "kysely";
import type { Pool, PoolClient } from "pg";
import { ConfigError } from "../../process/config.server.ts";
import { faultOf } from "../../process/fault.ts";
import type { Log } from "../../process/log.server.ts";

// PostgreSQL takes a hundred connections by default: the limit for all processes behind one port together, and limits for each process.
const connectionsOfAll = 80;
const poolAtMost = 20;
const poolAtLeast = 4;
// In ms, to wait for a free connection; after that an error is better. As long as a lock is waited for: writers that wait for one hold
// connections.
const connectedWithin = 10_000;
// In ms: how long a PostgreSQL without room is not asked for one more connection, and the time between attempts to open the first one.
const roomAfter = 2_000;
const startsAfter = 200;
// In s. A host that is lost in the middle of a transaction would hold its locks until PostgreSQL's TCP gives it up, two hours
// later. No transaction waits this long between two statements.
const idleInTransaction = 60;
// In s. If somebody locks a table, by hand or with a tool, writers get an error instead of a longer wait.
const lockedAtMost = 10;
// In ms: a notice between two connections of one PostgreSQL takes 1 ms.
const heardWithin = 2_000;

/** SQLSTATE of a write on a connection that may only read. A connection that opens as read-only stays read-only. */
const readOnly = "25006";
// SQLSTATE of a PostgreSQL that has no room for another connection, and of a PostgreSQL that is starting.
const noRoom = new Set(["53300", "57P03"]);

/** A pool of connections to PostgreSQL; `patient`: without limits on locks, to migrate. */
export async function openPool(url: string, processes: number, log: Log, { patient = false } = {}): Promise<Pool> {
  // Loaded only when used, to save start-up time and memory otherwise.
  const { default: pg } = await import("pg");
  // `pg` returns BIGINT (also COUNT) as text; epoch milliseconds and counts fit a double.
  pg.types.setTypeParser(20, Number);
  const max = patient ? 2 : Math.max(poolAtLeast, Math.min(poolAtMost, Math.floor(connectionsOfAll / processes)));
  const pool = new pg.Pool({
    connectionString: url,
    max,
    keepAlive: true,
    connectionTimeoutMillis: connectedWithin,
    async onConnect(client) {
      // A connection lost between two queries of a transaction emits an error that would end the process if unhandled.
      client.on("error", (error) => log.error({ err: error }, "conexión de PostgreSQL perdida"));
      // Statements, because PgBouncer refuses them as parameters of the connection.
      await client.query(`set idle_in_transaction_session_timeout = '${idleInTransaction}s'`);
      // The code waits for locks and reads what others have written since; a database may have another default.
      await client.query("set session characteristics as transaction isolation level read committed");
      if (!patient) await client.query(`set lock_timeout = '${lockedAtMost}s'`);
    },
  });
  // Already reported by the connection itself.
  pool.on("error", () => {});
  return pool;
}

/** The pool as Kysely uses it: waits for room, and ends connections that turn out to allow only reading. */
export function carefully(pool: Pool): PostgresPool {
  const { max } = pool.options;
  const known = new WeakMap<PoolClient, PoolClient>();
  return {
    async connect() {
      const client = await connectPatiently(pool, max);
      const connection = known.get(client) ?? watched(client);
      known.set(client, connection);
      return connection;
    },
    end: () => pool.end(),
    options: pool.options,
  };
}

/** Opens a connection. If PostgreSQL has no room for one more, waits for an open connection, and asks for more after a while. */
async function connectPatiently(pool: Pool, max: number): Promise<PoolClient> {
  for (const until = Date.now() + connectedWithin; ; ) {
    try {
      return await pool.connect();
    } catch (error) {
      if (!noRoom.has(faultOf(error).code) || Date.now() > until) throw error;
      // All waiting callers share the open connections: the first caller is served first.
      pool.options.max = Math.max(1, pool.totalCount);
      setTimeout(() => {
        pool.options.max = max;
      }, roomAfter).unref();
      if (pool.totalCount === 0) await wait(startsAfter);
    }
  }
}

/** The client; a connection that may only read is closed at its release. */
function watched(client: PoolClient): PoolClient {
  let mayOnlyRead = false;
  const query = (...given: unknown[]): unknown => {
    const answer: unknown = Reflect.apply(client.query, client, given);
    if (answer instanceof Promise) {
      answer.catch((error: { code?: string }) => {
        mayOnlyRead ||= error.code === readOnly;
      });
    }
    return answer;
  };
  const own: Record<PropertyKey, unknown> = { query, release: () => client.release(mayOnlyRead) };
  return new Proxy(client, { get: (target, name) => own[name] ?? Reflect.get(target, name) });
}

/**
 * Throws ConfigError where notices between connections do not arrive, as through a PgBouncer that gives each transaction another
 * connection: the coordination of the processes would fail silently.
 */
export async function refuseShared(pool: Pool): Promise<void> {
  const channel = `tertulia_probe_${process.pid}_${Date.now()}`;
  const { promise: heard, resolve } = Promise.withResolvers<boolean>();
  const listener = await pool.connect();
  listener.on("notification", (notice) => notice.channel === channel && resolve(true));
  try {
    await listener.query(`listen ${channel}`);
    await pool.query("select pg_notify($1, '')", [channel]);
    if (await Promise.race([heard, wait(heardWithin, false, { ref: false })])) return;
  } finally {
    listener.release(true);
  }
  throw new ConfigError(
    "DATABASE_URL lleva a PostgreSQL por un PgBouncer (o parecido) que reparte cada transacción: Tertulia necesita pool_mode = session, o la dirección de PostgreSQL.",
  );
}
