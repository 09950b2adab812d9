import { createHmac } from "node:crypto";
import { v7 as newId } from "uuid";
import { readHouse } from "../../db/house.server.ts";
import type { SessionRow } from "../../db/tables.ts";
import { hashToken, sameSecret } from "../../process/crypto.server.ts";
import type { Services } from "../env.server.ts";
import { isIdle } from "../http/authentication.server.ts";

const accessLives = 15 * 60_000;
const hour = 60 * 60_000;
const refreshLives = 30 * 24 * 60 * 60_000;
// In ms: parallel tabs may still use the token that one of them has just rotated.
const graceAfterRotation = 30_000;

/** Times are by the shared clock: a session that one process opens is used through others. */
type SessionServices = Pick<Services, "db" | "clock" | "tokenKey">;

export type Tokens = { access: string; refresh: string; refreshExpiresAt: number };

/** Data of a session that an identity provider has opened. */
type OfProvider = {
  accessId: string;
  providerSession: string | null;
  endsAt: number | null;
  /** Encrypts the ID token for the session with that id. */
  idTokenFor(sessionId: string): string | null;
};

/** Stands in place of a provider's session id if the proxy in front has opened the session; the proxy answers for the sign-in steps. */
const proxySession = "proxy";

/** Creates a session and returns its tokens. */
export async function openSession(
  { db, clock, tokenKey }: SessionServices,
  { userId, userAgent, ip }: Pick<SessionRow, "userId" | "userAgent" | "ip">,
  from?: OfProvider | "passkey" | "proxy",
): Promise<Tokens> {
  const now = clock.now();
  const id = newId();
  const provider = typeof from === "object" ? from : undefined;
  const { sessionHours } = await readHouse(db);
  const endsAt = earliest(provider?.endsAt ?? null, sessionHours === null ? null : now + sessionHours * hour);
  const tokens = tokensOf(tokenKey, id, 0, Math.min(now + refreshLives, endsAt ?? Number.POSITIVE_INFINITY));
  await db
    .deleteFrom("sessions")
    .where("userId", "=", userId)
    .where("roomId", "is", null)
    .where("refreshExpiresAt", "<", now)
    .execute();
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
      accessId: provider?.accessId ?? null,
      providerSession: from === "proxy" ? proxySession : (provider?.providerSession ?? null),
      idToken: provider?.idTokenFor(id) ?? null,
      endsAt,
      byPasskey: from === "passkey" ? 1 : 0,
      roomId: null,
      guestHash: null,
      guestName: null,
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
  const { sessionHours, idleMinutes } = await readHouse(db);
  // A rule that was made after the session began applies to it, too.
  const endsAt = earliest(session.endsAt, sessionHours === null ? null : session.createdAt + sessionHours * hour);
  if ((endsAt !== null && endsAt <= now) || isIdle(session.lastSeenAt, now, idleMinutes)) {
    await db.deleteFrom("sessions").where("id", "=", id).execute();
    return;
  }
  if (used === session.generation) {
    const ends = Math.min(now + refreshLives, endsAt ?? Number.POSITIVE_INFINITY);
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
    // With no row updated, a parallel request has rotated the token between the two queries.
    return numUpdatedRows > 0n ? tokens : refreshSession(services, refresh);
  }
  if (used === session.generation - 1 && now - session.rotatedAt <= graceAfterRotation) {
    return tokensOf(tokenKey, id, session.generation, session.refreshExpiresAt);
  }
  await db.deleteFrom("sessions").where("id", "=", id).execute();
}

/** The earlier of two times; a time that is null does not count. */
const earliest = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other);

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
