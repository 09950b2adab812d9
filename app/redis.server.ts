import type { RedisClientType } from "@redis/client";
import type { Log } from "./log.server.ts";

/** What is used of the Redis that several processes share. */
export type Redis = Pick<RedisClientType, "isReady" | "eval" | "del" | "destroy">;

// In ms: nobody waits longer to be counted, and a Redis that is silent for so long is away.
const answersWithin = 500;
const silentFor = 5000;

/**
 * Connects to Redis. While it is away or silent, what is asked of it fails soon, and it is looked for until it is back; that
 * is told once each time.
 */
export async function openRedis(url: string, log: Log): Promise<Redis> {
  const { createClient } = await import("@redis/client");
  const client: RedisClientType = createClient({
    url,
    disableOfflineQueue: true,
    pingInterval: silentFor / 2,
    socket: { socketTimeout: silentFor },
  });
  let away = false;
  client.on("error", (error: Error) => {
    if (!away) log.error({ err: error }, "Redis no contesta: los límites se cuentan en cada proceso hasta que vuelva");
    away = true;
  });
  client.on("ready", () => {
    if (away) log.info("Redis vuelve a contestar");
    away = false;
  });
  // It goes on trying by itself; only to be closed meanwhile ends that.
  client.connect().catch((error: Error) => log.debug({ err: error }, "Redis"));
  return {
    get isReady() {
      return client.isReady;
    },
    eval: (...given) => soon(client.eval(...given)),
    del: (...given) => soon(client.del(...given)),
    destroy: () => client.destroy(),
  };
}

function soon<Answer>(answer: Promise<Answer>): Promise<Answer> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("Redis no contesta a tiempo.")), answersWithin);
  return Promise.race([answer, promise]).finally(() => clearTimeout(timer));
}
