import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import type { Services } from "./env.server.ts";
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

const limiters = new WeakMap<Services, Record<Kind, RateLimiterMemory>>();

function limiter(services: Services, kind: Kind): RateLimiterMemory {
  let kinds = limiters.get(services);
  if (!kinds) {
    kinds = Object.fromEntries(
      Object.entries(rules).map(([name, rule]) => [name, new RateLimiterMemory(rule)]),
    ) as Record<Kind, RateLimiterMemory>;
    limiters.set(services, kinds);
  }
  return kinds[kind];
}

/** Counts an attempt of an account or address. Throws 429 with Retry-After when there were too many. */
export async function countAttempt(services: Services, kind: Kind, key: string): Promise<void> {
  try {
    await limiter(services, kind).consume(key);
  } catch (refused) {
    if (!(refused instanceof RateLimiterRes)) throw refused;
    const seconds = Math.max(1, Math.ceil(refused.msBeforeNext / 1000));
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

/** The same, as a question. */
export async function mayTry(services: Services, kind: Kind, key: string): Promise<boolean> {
  return limiter(services, kind)
    .consume(key)
    .then(
      () => true,
      () => false,
    );
}

/** Forgets an account's failures once it has signed in. */
export async function forgetAttempts(services: Services, kind: Kind, key: string): Promise<void> {
  await limiter(services, kind).delete(key);
}
