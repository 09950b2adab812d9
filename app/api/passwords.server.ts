import { availableParallelism } from "node:os";
import { hash, verify } from "@node-rs/argon2";
import pLimit from "p-limit";
import { Problem } from "./problem.server.ts";

// OWASP's first choice for Argon2id: 19 MiB, 2 passes, 1 lane.
const cost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
// More at once than cores only makes everyone wait longer, and costs 19 MiB each.
const limit = pLimit(availableParallelism());
// A minute's work: whoever came later would not wait for it.
const waitingAtMost = 500;

async function oneCoreEach<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  if (limit.pendingCount > waitingAtMost) {
    throw new Problem(503, "Ahora mismo entra demasiada gente. Vuelve a intentarlo en un minuto.", {
      headers: { "Retry-After": "60" },
    });
  }
  return limit(work);
}

/** Argon2id hash of a password, in PHC format. */
export const hashPassword = (password: string) => oneCoreEach(() => hash(password, cost));

let nobodysHash: Promise<string> | undefined;

/** Whether a password is the one of a hash. Without a hash it takes as long and answers false: nobody learns which addresses exist. */
export async function checkPassword(passwordHash: string | undefined, password: string): Promise<boolean> {
  nobodysHash ??= hash("nobody has this password", cost);
  const against = passwordHash ?? (await nobodysHash);
  const matches = await oneCoreEach(() => verify(against, password));
  return matches && passwordHash !== undefined;
}

let common: Promise<Set<string>> | undefined;

/** Whether a password is among the 50,000 that attackers try first. */
export async function isCommonPassword(password: string): Promise<boolean> {
  common ??= import("@zxcvbn-ts/language-common").then(({ dictionary }) => new Set(dictionary["passwords-common"]));
  return (await common).has(password.toLowerCase());
}
