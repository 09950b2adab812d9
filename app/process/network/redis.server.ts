import type { RedisClientType } from "@redis/client";
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
  const client: RedisClientType = createClient({ url, disableOfflineQueue: true, socket });
  let away = false;
  let silentUntil = 0;
  const lost = (error: Error) => {
    if (!away) log.error({ err: error }, "Redis no contesta: los límites se cuentan en cada proceso hasta que vuelva");
    away = true;
  };
  client.on("error", lost);
  const isReady = () => client.isReady && Date.now() >= silentUntil;
  async function ask<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    if (!isReady()) throw new Error("Redis no contesta.");
    try {
      const answer = await soon(question());
      if (away) log.info("Redis vuelve a contestar");
      away = false;
      return answer;
    } catch (error) {
      silentUntil = Date.now() + leftAloneFor;
      lost(error as Error);
      throw error;
    }
  }
  // The client retries by itself until it is closed.
  client.connect().catch((error: Error) => log.debug({ err: error }, "Redis"));
  return {
    get isReady() {
      return isReady();
    },
    eval: (...given) => ask(() => client.eval(...given)),
    del: (...given) => ask(() => client.del(...given)),
    destroy: () => client.destroy(),
  };
}

function soon<Answer>(answer: Promise<Answer>): Promise<Answer> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("Redis no contesta a tiempo.")), answersWithin);
  return Promise.race([answer, promise]).finally(() => clearTimeout(timer));
}
