import { createHmac } from "node:crypto";
import { v7 as newId } from "uuid";
import type { SessionRow } from "../../db/tables.ts";
import { hashToken, sameSecret } from "../../process/crypto.server.ts";
import type { Services } from "../env.server.ts";

const accessLives = 15 * 60_000;
const refreshLives = 30 * 24 * 60 * 60_000;
// In ms: parallel tabs may still use the token that one of them has just rotated.
const graceAfterRotation = 30_000;

/** Times are by the shared clock: a session that one process opens is used through others. */
type SessionServices = Pick<Services, "db" | "clock" | "tokenKey">;

export type Tokens = { access: string; refresh: string; refreshExpiresAt: number };

/** Of a session that a provider of identities has opened. */
type OfProvider = {
  accessId: string;
  providerSession: string | null;
  endsAt: number | null;
  /** Encrypts the ID token for the session with that id. */
  idTokenFor(sessionId: string): string | null;
};

/** Creates a session and returns its tokens. */
export async function openSession(
  { db, clock, tokenKey }: SessionServices,
  { userId, userAgent, ip }: Pick<SessionRow, "userId" | "userAgent" | "ip">,
  from?: OfProvider,
): Promise<Tokens> {
  const now = clock.now();
  const id = newId();
  const endsAt = from?.endsAt ?? null;
  const tokens = tokensOf(tokenKey, id, 0, Math.min(now + refreshLives, endsAt ?? Number.POSITIVE_INFINITY));
  await db.deleteFrom("sessions").where("userId", "=", userId).where("refreshExpiresAt", "<", now).execute();
  await db
    .insertInto("sessions")
    .values({
      id,
      createdAt: now,
      updatedAt: now,
      userId,
      generation: 0,
      accessHash: hashToken(tokens.access),
      refreshHash: hashToken(tokens.refresh),
      rotatedAt: now,
      accessExpiresAt: Math.min(now + accessLives, tokens.refreshExpiresAt),
      refreshExpiresAt: tokens.refreshExpiresAt,
      userAgent: userAgent.slice(0, 300),
      ip,
      lastSeenAt: now,
      accessId: from?.accessId ?? null,
      providerSession: from?.providerSession ?? null,
      idToken: from?.idTokenFor(id) ?? null,
      endsAt,
    })
    .execute();
  return tokens;
}

/**
 * Rotates a refresh token. The previous token still works for 30 s and yields the same new tokens; an older one was stolen or
 * copied, so the session ends. Returns undefined if there is no session for it.
 */
export async function refreshSession(services: SessionServices, refresh: string): Promise<Tokens | undefined> {
  const { db, clock, tokenKey } = services;
  const [id = "", generation = ""] = refresh.split(".");
  const used = Number(generation);
  if (!Number.isSafeInteger(used) || !sameSecret(refresh, refreshToken(tokenKey, id, used))) return;
  const now = clock.now();
  const session = await db.selectFrom("sessions").where("id", "=", id).selectAll().executeTakeFirst();
  if (!session || session.refreshExpiresAt <= now) return;
  if (used === session.generation) {
    const ends = Math.min(now + refreshLives, session.endsAt ?? Number.POSITIVE_INFINITY);
    const tokens = tokensOf(tokenKey, id, used + 1, ends);
    const { numUpdatedRows } = await db
      .updateTable("sessions")
      .set({
        generation: used + 1,
        accessHash: hashToken(tokens.access),
        refreshHash: hashToken(tokens.refresh),
        rotatedAt: now,
        updatedAt: now,
        accessExpiresAt: Math.min(now + accessLives, ends),
        refreshExpiresAt: tokens.refreshExpiresAt,
      })
      .where("id", "=", id)
      .where("generation", "=", used)
      .executeTakeFirst();
    // A parallel request rotated it between the two queries.
    return numUpdatedRows > 0n ? tokens : refreshSession(services, refresh);
  }
  if (used === session.generation - 1 && now - session.rotatedAt <= graceAfterRotation) {
    return tokensOf(tokenKey, id, session.generation, session.refreshExpiresAt);
  }
  await db.deleteFrom("sessions").where("id", "=", id).execute();
}

// Derived, not random, so that parallel requests of one rotation get the same pair while only hashes are stored.
function tokensOf(key: Buffer, id: string, generation: number, refreshExpiresAt: number): Tokens {
  return {
    access: createHmac("sha256", key).update(`access:${id}:${generation}`).digest("base64url"),
    refresh: refreshToken(key, id, generation),
    refreshExpiresAt,
  };
}

function refreshToken(key: Buffer, id: string, generation: number): string {
  return `${id}.${generation}.${createHmac("sha256", key).update(`refresh:${id}:${generation}`).digest("base64url")}`;
}
