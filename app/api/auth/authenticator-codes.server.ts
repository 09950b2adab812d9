import { createHmac, randomInt } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { Secret, TOTP } from "otpauth";
import type { Db } from "../../db/engine.server.ts";
import { authenticatorIdentity } from "../../db/stored-secrets.server.ts";
import type { UserRow } from "../../db/tables.ts";
import { encrypt, sameSecret, tryDecrypt } from "../../process/crypto.server.ts";
import { textsIn } from "../../process/text/json.ts";
import type { Person, Services } from "../env.server.ts";
import { invalid } from "../http/problem.server.ts";

/** A code as people write it, without the spaces and hyphens that it may be shown with. */
export const normalCode = (written: string) => written.replace(/[\s-]/g, "").toLowerCase();

export const code = z
  .string("Falta el código.")
  .transform((value) => normalCode(value))
  .pipe(z.string().min(1, "Falta el código.").max(32, "El código es demasiado largo."));
export const secondStep = z.object({ ticket: z.string("Falta el ticket.").max(300, "El ticket no es válido."), code });

const ticketLives = 5 * 60_000;
const period = 30;
// A phone's clock may be a step early or late (RFC 6238 §5.2).
const window = 1;
const recoveryCodes = 10;
const letters = "abcdefghjkmnpqrstuvwxyz23456789";

type Ticketed = Pick<UserRow, "id" | "passwordHash">;

/** A ticket that proves for five minutes that the password was right; a new password invalidates it. */
export function makeTicket({ clock, tokenKey }: Services, account: Ticketed): string {
  return signTicket(tokenKey, account, clock.now() + ticketLives);
}

function signTicket(key: Buffer, { id, passwordHash }: Ticketed, expires: number): string {
  const proof = createHmac("sha256", key).update(`ticket:${id}:${expires}:${passwordHash}`).digest("base64url");
  return `${id}.${expires}.${proof}`;
}

/** The account of a valid ticket. */
export async function accountOfTicket(
  { db, clock, tokenKey }: Services,
  ticket: string,
): Promise<Ticketed | undefined> {
  const [id = "", expires = ""] = ticket.split(".");
  const account = await db
    .selectFrom("users")
    .where("id", "=", id.replaceAll("\0", ""))
    .select(["id", "passwordHash"])
    .executeTakeFirst();
  if (!account || !(Number(expires) > clock.now())) return;
  return sameSecret(ticket, signTicket(tokenKey, account, Number(expires))) ? account : undefined;
}

export async function hasAuthenticator(db: Db, userId: string): Promise<boolean> {
  const row = await db
    .selectFrom("authenticators")
    .where("userId", "=", userId)
    .select("confirmedAt")
    .executeTakeFirst();
  return Boolean(row?.confirmedAt);
}

// In ms: a secret that is shown can be confirmed for one to two of these periods.
const pendingLives = 15 * 60_000;

/**
 * The secrets that a session may confirm now (of this period and the one before), in Base32. Derived from the session, so
 * that they are stored nowhere.
 */
export function pendingSecrets(key: Buffer, { id, sessionId }: Pick<Person, "id" | "sessionId">, now: number) {
  const period = Math.floor(now / pendingLives);
  const secretOf = (one: number) => {
    const bytes = createHmac("sha256", key).update(`pending:${id}:${sessionId}:${one}`).digest().subarray(0, 20);
    return new Secret({ buffer: Uint8Array.from(bytes).buffer }).base32;
  };
  return { current: secretOf(period), before: secretOf(period - 1) };
}

/** The otpauth:// address of a secret, for the person's app. */
export const addressOf = (secret: string, email: string, issuer: string) =>
  new TOTP({ issuer, label: email, period, secret: Secret.fromBase32(secret) }).toString();

export const sealSecret = (key: Buffer, userId: string, secret: string) =>
  encrypt(secret, key, authenticatorIdentity(userId));
/** Returns undefined if the secret was stored under another master secret. */
export const openSecret = (key: Buffer, userId: string, sealed: string) =>
  tryDecrypt(sealed, key, authenticatorIdentity(userId));

/** The time step of a valid code, or undefined. */
export function stepOf(secret: string, given: string, now: number): number | undefined {
  const delta = new TOTP({ period, secret: Secret.fromBase32(secret) }).validate({
    token: given,
    timestamp: now,
    window,
  });
  return delta === null ? undefined : Math.floor(now / 1000 / period) + delta;
}

/** Ten recovery codes and their stored hashes. */
export function makeRecoveryCodes(key: Buffer): { codes: string[]; hashes: string[] } {
  const codes = Array.from({ length: recoveryCodes }, () =>
    Array.from({ length: 10 }, () => letters[randomInt(letters.length)]).join(""),
  );
  return {
    codes: codes.map((text) => `${text.slice(0, 5)}-${text.slice(5)}`),
    hashes: codes.map((text) => hash(key, text)),
  };
}

const hash = (key: Buffer, text: string) => createHmac("sha256", key).update(`recovery:${text}`).digest("base64url");

/**
 * Checks a code of the person's app or a recovery code; each is accepted once. Throws 422 if the stored secret can't be
 * read.
 */
export async function spendCode(
  { db, clock, authenticatorKey }: Services,
  userId: string,
  given: string,
): Promise<boolean> {
  const row = await db.selectFrom("authenticators").where("userId", "=", userId).selectAll().executeTakeFirst();
  if (!row?.confirmedAt) return false;
  const now = clock.now();
  const own = db.updateTable("authenticators").where("id", "=", row.id);
  const secret = openSecret(authenticatorKey, userId, row.secret);
  if (secret === undefined) {
    throw invalid("code", "Ningún código se puede comprobar ya. Pide a quien administra que quite tu segundo paso.");
  }
  const step = stepOf(secret, given, now);
  if (step !== undefined) {
    const { numUpdatedRows } = await own
      .where("lastStep", "<", step)
      .set({ lastStep: step, updatedAt: now })
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }
  const left = textsIn(row.recoveryCodes);
  const rest = left.filter((stored) => stored !== hash(authenticatorKey, given));
  if (rest.length === left.length) return false;
  // When two requests come with the same code, only one finds the list unchanged.
  const { numUpdatedRows } = await own
    .where("recoveryCodes", "=", row.recoveryCodes)
    .set({ recoveryCodes: JSON.stringify(rest), updatedAt: now })
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}
