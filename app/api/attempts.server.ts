import { isIP } from "node:net";
import type { Context } from "hono";
import { expandIPv6 } from "hono/utils/ipaddr";
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import type { ApiEnv, Services } from "./env.server.ts";
import { Problem } from "./problem.server.ts";

const quarter = 15 * 60;
const rules = {
  // From one address; from everywhere together it takes many more, or anyone could keep the person out.
  signinAccount: { points: 10, duration: quarter },
  signinEverywhere: { points: 200, duration: quarter },
  confirm: { points: 10, duration: quarter },
  signinAddress: { points: 100, duration: quarter },
  signinCode: { points: 10, duration: quarter },
  signup: { points: 200, duration: 60 * 60 },
  reset: { points: 20, duration: 60 * 60 },
  resetAccount: { points: 5, duration: 60 * 60 },
  upload: { points: 600, duration: 60 * 60 },
  trial: { points: 60, duration: 60 * 60 },
  import: { points: 30, duration: 60 * 60 },
  export: { points: 10, duration: 60 * 60 },
  email: { points: 20, duration: 60 * 60 },
};
type Kind = keyof typeof rules;

/** Whose attempts count together: an address, or the /64 that one customer has of IPv6. */
export function networkOf(c: Context<ApiEnv>): string {
  const address = c.env.ip ?? "";
  if (isIP(address) !== 6 || address.includes(".")) return address;
  return `${expandIPv6(address).split(":").slice(0, 4).join(":")}::/64`;
}

type Limiter = RateLimiterMemory | RateLimiterRedis;
const limiters = new WeakMap<Services, Record<Kind, Limiter>>();

function limiter(services: Services, kind: Kind): Limiter {
  let kinds = limiters.get(services);
  if (!kinds) {
    kinds = Object.fromEntries(
      Object.entries(rules).map(([name, rule]) => [name, newLimiter(services, name, rule)]),
    ) as Record<Kind, Limiter>;
    limiters.set(services, kinds);
  }
  return kinds[kind];
}

/** Counts in Redis where there is one; while it is away, in this process. */
function newLimiter({ redis }: Services, name: string, rule: (typeof rules)[Kind]): Limiter {
  const own = new RateLimiterMemory(rule);
  if (!redis) return own;
  const keyPrefix = `tertulia:${name}`;
  const shared = { storeClient: redis, useRedisPackage: true, rejectIfRedisNotReady: true, insuranceLimiter: own };
  return new RateLimiterRedis({ ...rule, ...shared, keyPrefix });
}

/** Counts an attempt of an account or address; the answer's RateLimit headers say how many are left. Throws 429 with Retry-After when there were too many. */
export async function countAttempt(c: Context<ApiEnv>, kind: Kind, key: string): Promise<void> {
  try {
    keepTightest(c, kind, await limiter(c.var.services, kind).consume(key));
  } catch (refused) {
    if (!(refused instanceof RateLimiterRes)) throw refused;
    keepTightest(c, kind, refused);
    const seconds = secondsOf(refused);
    const minutes = Math.ceil(seconds / 60);
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

/** Several limits may count one call: what a program has to know is the one that it reaches first. */
function keepTightest(c: Context<ApiEnv>, kind: Kind, counted: RateLimiterRes): void {
  const remaining = counted.remainingPoints;
  if (c.var.rateLimit && c.var.rateLimit.remaining <= remaining) return;
  c.set("rateLimit", { limit: rules[kind].points, remaining, reset: secondsOf(counted) });
}

/** Says on the answer how many more such calls there may be, and after how many seconds they begin anew (IETF draft-ietf-httpapi-ratelimit-headers-06). */
export function tellRateLimit(c: Context<ApiEnv>): void {
  const { rateLimit } = c.var;
  if (!rateLimit) return;
  c.res.headers.set("RateLimit-Limit", String(rateLimit.limit));
  c.res.headers.set("RateLimit-Remaining", String(rateLimit.remaining));
  c.res.headers.set("RateLimit-Reset", String(rateLimit.reset));
}

/** The same as `countAttempt`, as a question. */
export async function mayTry(services: Services, kind: Kind, key: string): Promise<boolean> {
  return limiter(services, kind)
    .consume(key)
    .then(
      () => true,
      (refused) => {
        if (!(refused instanceof RateLimiterRes)) throw refused;
        return false;
      },
    );
}

/** Forgets an account's failures once it has signed in. */
export async function forgetAttempts(services: Services, kind: Kind, key: string): Promise<void> {
  await limiter(services, kind).delete(key);
}
