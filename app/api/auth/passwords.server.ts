import { availableParallelism } from "node:os";
import { hash, verify } from "@node-rs/argon2";
import pLimit from "p-limit";
import { Problem } from "../http/problem.server.ts";

/** OWASP's first choice for Argon2id: 19 MiB, 2 passes, 1 lane. Tests that sign up many people lower it. */
export const hashCost = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
// More hashes at once than cores would only be slower, and each needs 19 MiB.
const limit = pLimit(availableParallelism());
// Longest queue: about a minute of work.
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
export const hashPassword = (password: string) => oneCoreEach(() => hash(normal(password), hashCost));

/** One form of a password for all keyboards (RFC 8265 wants NFC; NFKC also takes full-width letters and ligatures for the usual ones). */
const normal = (password: string) => password.normalize("NFKC");

let nobodysHash: Promise<string> | undefined;

/**
 * Verifies a password. Without a hash, or with the empty hash of a person who has no password, it takes the same time and returns false,
 * so that timing does not tell which addresses exist.
 */
export async function checkPassword(passwordHash: string | undefined, password: string): Promise<boolean> {
  nobodysHash ??= hash("nobody has this password", hashCost);
  const against = passwordHash || (await nobodysHash);
  const matches =
    (await oneCoreEach(() => verify(against, normal(password)))) ||
    // Hashed as it was typed, by an earlier version.
    (normal(password) !== password && (await oneCoreEach(() => verify(against, password))));
  return matches && Boolean(passwordHash);
}

let common: Promise<Set<string>> | undefined;

/** Whether a password is among the 50,000 that attackers try first. */
export async function isCommonPassword(password: string): Promise<boolean> {
  common ??= import("@zxcvbn-ts/language-common").then(({ dictionary }) => new Set(dictionary["passwords-common"]));
  return (await common).has(password.toLowerCase());
}
