import { createHmac } from "node:crypto";
import type { Context } from "hono";
import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import { networkOf as networkOfAddress } from "../../http/network.server.ts";
import type { ApiEnv, Services } from "../env.server.ts";
import { Problem } from "./problem.server.ts";

const quarter = 15 * 60;
const rules = {
  // Per account and address. The limit over all addresses is much higher, or anyone could lock a person out.
  signinAccount: { points: 10, duration: quarter },
  signinEverywhere: { points: 200, duration: quarter },
  confirm: { points: 10, duration: quarter },
  // Per network, from which a whole school may come: only attempts that are refused count (`forgetSuccess`).
  signinAddress: { points: 100, duration: quarter },
  signinStart: { points: 3_000, duration: quarter },
  signinCode: { points: 10, duration: quarter },
  // A provider sends one call for each person it signs out.
  backchannel: { points: 600, duration: 60 },
  signup: { points: 200, duration: 60 * 60 },
  reset: { points: 20, duration: 60 * 60 },
  resetAccount: { points: 5, duration: 60 * 60 },
  // Faster than anybody writes or regenerates.
  message: { points: 120, duration: 60 },
  upload: { points: 600, duration: 60 * 60 },
  page: { points: 120, duration: 60 * 60 },
  // Counts only codes and tokens that are not valid.
  oauth: { points: 300, duration: quarter },
  oauthRegistration: { points: 60, duration: quarter },
  embeddings: { points: 1_200, duration: 60 * 60 },
  trial: { points: 60, duration: 60 * 60 },
  // Some programs export each chat to a file of its own.
  import: { points: 100, duration: 60 * 60 },
  export: { points: 10, duration: 60 * 60 },
  member: { points: 60, duration: 60 * 60 },
  email: { points: 20, duration: 60 * 60 },
  transcription: { points: 60, duration: 60 * 60 },
  speech: { points: 60, duration: 60 * 60 },
  notice: { points: 60, duration: 60 * 60 },
  // A class comes from one network, and looks at its room again and again.
  room: { points: 3_000, duration: quarter },
  guest: { points: 30, duration: 60 },
  // A class reads one shared artifact and each of its drawings; each reading may make a document, which takes a process.
  shared: { points: 1_000, duration: quarter },
  receipt: { points: 120, duration: quarter },
  // Readers of news look once a minute at most.
  feed: { points: 60, duration: quarter },
};
type LimitedAction = keyof typeof rules;

/** The network that a call came from, as the key for limits. */
export const networkOf = (c: Context<ApiEnv>) => networkOfAddress(c.env.ip);

/** `own` counts in this process, when the shared counter is not available. */
type Limiter = { shared: RateLimiterMemory | RateLimiterRedis | RateLimiterPostgres; own: RateLimiterMemory };
const limiters = new WeakMap<Services, Record<LimitedAction, Limiter>>();

function limiter(services: Services, kind: LimitedAction): Limiter["shared"] {
  let kinds = limiters.get(services);
  if (!kinds) {
    kinds = Object.fromEntries(
      Object.entries(rules).map(([name, rule]) => [name, newLimiter(services, name, rule)]),
    ) as Record<LimitedAction, Limiter>;
    limiters.set(services, kinds);
  }
  const { shared, own } = kinds[kind];
  // While all connections are in use, counting would wait for one before the call itself does.
  return services.pool?.waitingCount && !services.redis ? own : shared;
}

/** Counts in Redis if configured, else in PostgreSQL; in this process while these are unreachable, and with SQLite. */
function newLimiter({ redis, pool }: Services, name: string, rule: (typeof rules)[LimitedAction]): Limiter {
  const own = new RateLimiterMemory(rule);
  const keyPrefix = `tertulia:${name}`;
  if (!redis && pool) {
    const store = { storeClient: pool, storeType: "pool", tableName: "rateLimits", tableCreated: true };
    return { shared: new RateLimiterPostgres({ ...rule, ...store, keyPrefix, insuranceLimiter: own }), own };
  }
  if (!redis) return { shared: own, own };
  const shared = { storeClient: redis, useRedisPackage: true, rejectIfRedisNotReady: true, insuranceLimiter: own };
  return { shared: new RateLimiterRedis({ ...rule, ...shared, keyPrefix }), own };
}

/** The name of a counter; in a shared store a keyed hash: it must have no e-mails and addresses, nor values from which they can be guessed. */
const sealed = ({ redis, pool, tokenKey }: Services, key: string) =>
  redis || pool ? createHmac("sha256", tokenKey).update(key).digest("base64url") : key;

/**
 * Counts an attempt of an account or address; the answer's RateLimit headers say how many attempts are left. Throws 429 with
 * Retry-After after too many attempts. `onLocked` runs once, with the first attempt that is refused.
 */
export async function countAttempt(
  c: Context<ApiEnv>,
  kind: LimitedAction,
  key: string,
  onLocked?: (minutes: number) => Promise<void>,
): Promise<void> {
  try {
    keepTightest(c, kind, await limiter(c.var.services, kind).consume(sealed(c.var.services, key)));
    if (kind === "signinAddress") c.set("signinFrom", key);
  } catch (refused) {
    if (!(refused instanceof RateLimiterRes)) throw refused;
    keepTightest(c, kind, refused);
    const seconds = secondsOf(refused);
    const minutes = Math.ceil(seconds / 60);
    if (refused.consumedPoints === rules[kind].points + 1) await onLocked?.(minutes);
    throw new Problem(
      429,
      `Demasiados intentos. Vuelve a probar dentro de ${minutes === 1 ? "un minuto" : `${minutes} minutos`}.`,
      {
        headers: { "Retry-After": String(seconds) },
      },
    );
  }
}

const secondsOf = ({ msBeforeNext }: RateLimiterRes) => Math.max(1, Math.ceil(msBeforeNext / 1000));

/** Several limits may apply to one call: reports the one that will be reached first. */
function keepTightest(c: Context<ApiEnv>, kind: LimitedAction, counted: RateLimiterRes): void {
  const remaining = counted.remainingPoints;
  if (c.var.rateLimit && c.var.rateLimit.remaining <= remaining) return;
  c.set("rateLimit", { limit: rules[kind].points, remaining, reset: secondsOf(counted) });
}

/**
 * Sets the RateLimit headers: limit, remaining calls, and seconds until the window ends (IETF
 * draft-ietf-httpapi-ratelimit-headers-06).
 */
export function tellRateLimit(c: Context<ApiEnv>): void {
  const { rateLimit } = c.var;
  if (!rateLimit) return;
  c.res.headers.set("RateLimit-Limit", String(rateLimit.limit));
  c.res.headers.set("RateLimit-Remaining", String(rateLimit.remaining));
  c.res.headers.set("RateLimit-Reset", String(rateLimit.reset));
}

/** Takes a sign-in that has succeeded off the count of its network. */
export async function forgetSuccess(c: Context<ApiEnv>): Promise<void> {
  const { services, signinFrom } = c.var;
  if (signinFrom === undefined || c.res.status >= 400) return;
  await limiter(services, "signinAddress").reward(sealed(services, signinFrom));
}

/** Like `countAttempt`, but returns false instead of throwing. */
export async function mayTry(services: Services, kind: LimitedAction, key: string): Promise<boolean> {
  return limiter(services, kind)
    .consume(sealed(services, key))
    .then(
      () => true,
      (refused) => {
        if (!(refused instanceof RateLimiterRes)) throw refused;
        return false;
      },
    );
}

/** Forgets an account's failures once it has signed in. */
export async function forgetAttempts(services: Services, kind: LimitedAction, key: string): Promise<void> {
  await limiter(services, kind).delete(sealed(services, key));
}
