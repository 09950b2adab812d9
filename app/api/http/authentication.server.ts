import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { prepared } from "../../db/prepared.server.ts";
import { hashToken } from "../../process/crypto.server.ts";
import type { ApiEnv, Person } from "../env.server.ts";
import { notFound, Problem } from "./problem.server.ts";

// In ms: the time of last use is written at most this often, so that reads do not each cost a write.
const seenEvery = 5 * 60_000;

/** The prefix of API keys; session tokens do not have it. */
export const apiKeyStart = "ter_";

/** Authenticates a bearer token (a session's or an API key); 401 without a valid one. */
export const signedIn = createMiddleware<ApiEnv>(async (c, next) => {
  const token = c.req.header("Authorization")?.match(/^Bearer (\S+)$/i)?.[1];
  const find = token?.startsWith(apiKeyStart) ? findByKey : findBySession;
  const person = token && (await find(c, token));
  if (!person) throw new Problem(401, "Necesitas iniciar sesión.", { headers: { "WWW-Authenticate": "Bearer" } });
  c.set("person", person);
  await next();
});

/** Refuses API keys: sessions, keys, accounts and backups are managed by people only. After `signedIn`. */
export const noProgram = createMiddleware<ApiEnv>(async (c, next) => {
  if (c.var.person.keyId) throw new Problem(403, "Esto solo se hace con la sesión iniciada, no con una clave.");
  await next();
});

async function findByKey(c: Context<ApiEnv>, token: string): Promise<Person | undefined> {
  const { db } = c.var.services;
  const now = Date.now();
  const row = await db
    .selectFrom("apiKeys")
    .innerJoin("users", "users.id", "apiKeys.userId")
    .where("apiKeys.tokenHash", "=", hashToken(token))
    .select(["apiKeys.id as keyId", "apiKeys.scope", "apiKeys.lastUsedAt", "users.id", "users.role", "users.status"])
    .executeTakeFirst();
  if (!row) return;
  const { keyId, scope, lastUsedAt, ...person } = row;
  const reads = c.req.method === "GET" || c.req.method === "HEAD";
  if (scope === "read" && !reads) throw new Problem(403, "Esta clave solo puede leer.");
  if (now - (lastUsedAt ?? 0) > seenEvery) {
    await noteSeen(c, db.updateTable("apiKeys").set({ lastUsedAt: now }).where("id", "=", keyId).execute());
  }
  // No session id, so API keys can't use temporary chats.
  return { ...person, sessionId: "", keyId };
}

/** A full disk must not stop reads. */
const noteSeen = (c: Context<ApiEnv>, writing: Promise<unknown>) =>
  writing.catch((error) => c.var.services.log.error({ err: error as Error }, "no se pudo anotar una visita"));

/** Authenticates if a token is sent. An invalid token is a 401, so that the client refreshes it. */
export const maybeSignedIn = createMiddleware<ApiEnv & { Variables: { person?: Person } }>(async (c, next) => {
  const sent = c.req.header("Authorization") !== undefined;
  return sent ? signedIn(c as Context<ApiEnv>, next) : next();
});

async function findBySession(c: Context<ApiEnv>, token: string): Promise<Person | undefined> {
  const { db } = c.var.services;
  const now = Date.now();
  const [row] = token ? (await openSession(db, { accessHash: hashToken(token), now })).rows : [];
  if (!row) return;
  const { lastSeenAt, ...person } = row;
  if (now - lastSeenAt > seenEvery) {
    await noteSeen(c, db.updateTable("sessions").set({ lastSeenAt: now }).where("id", "=", row.sessionId).execute());
    await noteSeen(c, db.updateTable("users").set({ lastSeenAt: now }).where("id", "=", row.id).execute());
  }
  return person;
}

const openSession = prepared((db, { accessHash, now }: { accessHash: string; now: number }) =>
  db
    .selectFrom("sessions")
    .innerJoin("users", "users.id", "sessions.userId")
    .where("sessions.accessHash", "=", accessHash)
    .where("sessions.accessExpiresAt", ">", now)
    .select(["sessions.id as sessionId", "sessions.lastSeenAt", "users.id", "users.role", "users.status"]),
);

/** Refuses accounts that are not active. After `signedIn`. */
export const active = createMiddleware<ApiEnv>(async (c, next) => {
  if (c.var.person.status !== "active") {
    throw new Problem(403, "Tu cuenta está inactiva. Escríbenos a soporte para reactivarla.");
  }
  await next();
});

export const isAdmin = (person: Person | undefined) => person?.role === "admin" && person.status === "active";

/** Only for admins; everyone else gets a 404. After `signedIn`. */
export const admin = createMiddleware<ApiEnv>(async (c, next) => {
  if (!isAdmin(c.var.person)) throw notFound();
  await next();
});
