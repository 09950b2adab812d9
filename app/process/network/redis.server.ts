import { once } from "node:events";
import type { RedisClientType } from "@redis/client";
import { ConfigError } from "../config.server.ts";
import { faultOf } from "../fault.ts";
import type { Log } from "../log.server.ts";

/** The part of the Redis client that is used here. */
export type Redis = Pick<RedisClientType, "isReady" | "eval" | "del" | "destroy">;

// In ms: how long a command may take; how long commands fail at once after a command has failed.
const answersWithin = 500;
const leftAloneFor = 5000;
// In ms, between attempts to connect.
const retryAfter = (attempts: number) => Math.min(50 * 2 ** attempts, 2000);

/**
 * Connects to Redis. While Redis is unreachable or silent, commands fail quickly and the client keeps reconnecting; each outage
 * is logged once.
 */
export async function openRedis(url: string, log: Log): Promise<Redis> {
  const { createClient } = await import("@redis/client");
  const socket = { reconnectStrategy: retryAfter };
  const client: RedisClientType = createClient({ ...placeIn(url, socket), disableOfflineQueue: true });
  let away = false;
  let silentUntil = 0;
  const lost = (error: unknown) => {
    if (!away) log.error({ err: error }, "Redis no contesta: los límites se cuentan en cada proceso hasta que vuelva");
    away = true;
  };
  client.on("error", lost);
  // The client retries by itself until it is closed.
  const connect = () => void client.connect().catch((error: Error) => log.debug({ err: error }, "Redis"));
  // Behind this address another server may be the first one now; the old connection stays with the replica.
  const connectAnew = () => {
    client.destroy();
    connect();
  };
  const isReady = () => client.isReady && Date.now() >= silentUntil;
  async function ask<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    if (!isReady()) throw new Error("Redis no contesta.");
    try {
      const answer = await withTimeout(question());
      if (away) log.info("Redis vuelve a contestar");
      away = false;
      return answer;
    } catch (error) {
      // Commands that were under way fail with the same answer; one of them is enough.
      const isFirst = isReady();
      silentUntil = Date.now() + leftAloneFor;
      lost(error);
      if (isFirst && /^READONLY/.test(faultOf(error).message)) connectAnew();
      throw error;
    }
  }
  connect();
  try {
    await refuseForGood(client);
  } catch (error) {
    client.destroy();
    throw error;
  }
  return {
    get isReady() {
      return isReady();
    },
    eval: (...given) => ask(() => client.eval(...given)),
    del: (...given) => ask(() => client.del(...given)),
    destroy: () => client.destroy(),
  };
}

/** A server by its address. The library itself looks up IPv6 addresses as names, with their brackets. */
function placeIn(url: string, socket: { reconnectStrategy: typeof retryAfter }) {
  const { protocol, hostname, port, username, password, pathname } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  return {
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
    database: Number(pathname.slice(1)),
    socket: { ...socket, host, port: Number(port || 6379), ...(protocol === "rediss:" && { tls: true as const }) },
  };
}

const permanentErrors: [RegExp, string][] = [
  [/WRONGPASS|NOAUTH|invalid password/i, "no acepta ese usuario o esa clave"],
  [/NOPERM/, "no deja a ese usuario hacer lo que hace falta (EVAL y DEL)"],
  [/DB index is out of range/i, "no tiene una base con ese número"],
  [/MOVED|CROSSSLOT|cluster/i, "es un clúster, y hace falta un Redis solo"],
  [/READONLY/, "es una réplica que solo deja leer"],
  [/certificate/i, "tiene un certificado que no es de una autoridad conocida: dila con NODE_EXTRA_CA_CERTS"],
  [/wrong version number|packet length too long/i, "no habla TLS: la dirección empieza por redis://"],
];

/** Waits for the first connection or failure. Throws ConfigError where Redis can't be used until somebody changes something. */
async function refuseForGood(client: RedisClientType): Promise<void> {
  try {
    const failed = once(client, "error").then(([error]) => Promise.reject(error));
    await Promise.race([client.isReady || once(client, "ready"), failed]);
    await withTimeout(client.eval("return redis.call('set', KEYS[1], '1', 'PX', 1000)", { keys: ["tertulia:probe"] }));
  } catch (error) {
    const { message } = faultOf(error);
    const why = permanentErrors.find(([pattern]) => pattern.test(message))?.[1];
    if (why) throw new ConfigError(`No se puede usar el Redis de REDIS_URL: ${why}.`, { cause: error });
  }
}

function withTimeout<Answer>(answer: Promise<Answer>): Promise<Answer> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("Redis no contesta a tiempo.")), answersWithin);
  return Promise.race([answer, promise]).finally(() => clearTimeout(timer));
}
