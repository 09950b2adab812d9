import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { hashToken } from "../secrets.server.ts";
import type { ApiEnv, Person } from "./env.server.ts";
import { notFound, Problem } from "./problem.server.ts";

// Written at most this often, as reads would otherwise each cost a write.
const seenEvery = 5 * 60_000;

/** How the keys of programs begin; session tokens have no such beginning. */
export const apiKeyStart = "ter_";

/** Finds the person of the bearer token, a session's or a program's; 401 without a living one. */
export const signedIn = createMiddleware<ApiEnv>(async (c, next) => {
  const token = /^Bearer (\S+)$/i.exec(c.req.header("Authorization") ?? "")?.[1] ?? "";
  const person = token.startsWith(apiKeyStart) ? await findByKey(c, token) : await findBySession(c, token);
  if (!person) throw new Problem(401, "Necesitas iniciar sesión.", { headers: { "WWW-Authenticate": "Bearer" } });
  c.set("person", person);
  await next();
});

// Keys, sessions and copies of everything are for people; so is who may sign in, and how.
const ofSessions = /^(\/v1)?\/(auth|api\/(key|system))(\/|$)/;
const ofAccounts = /^(\/v1)?\/api\/user(\/|$)/;

/** A program acts as its person, but can neither change how that person signs in nor make keys itself. */
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
  if (ofSessions.test(c.req.path) || (!reads && ofAccounts.test(c.req.path))) {
    throw new Problem(403, "Esto solo se hace con la sesión iniciada, no con una clave.");
  }
  if (scope === "read" && !reads) throw new Problem(403, "Esta clave solo puede leer.");
  if (now - (lastUsedAt ?? 0) > seenEvery) {
    await noteSeen(c, db.updateTable("apiKeys").set({ lastUsedAt: now }).where("id", "=", keyId).execute());
  }
  // No session: temporary chats are for people.
  return { ...person, sessionId: "" };
}

/** Where a disk is full, reading goes on. */
const noteSeen = (c: Context<ApiEnv>, writing: Promise<unknown>) =>
  writing.catch((error) => c.var.services.log.error({ err: error as Error }, "no se pudo anotar una visita"));

/** Finds the person where a token is sent; 401 where that one is dead, so that it is refreshed. */
export const maybeSignedIn = createMiddleware<ApiEnv & { Variables: { person?: Person } }>(async (c, next) => {
  const sent = c.req.header("Authorization") !== undefined;
  return sent ? signedIn(c as Context<ApiEnv>, next) : next();
});

async function findBySession(c: Context<ApiEnv>, token: string): Promise<Person | undefined> {
  const { db } = c.var.services;
  const now = Date.now();
  const row = token
    ? await db
        .selectFrom("sessions")
        .innerJoin("users", "users.id", "sessions.userId")
        .where("sessions.accessHash", "=", hashToken(token))
        .where("sessions.accessExpiresAt", ">", now)
        .select(["sessions.id as sessionId", "sessions.lastSeenAt", "users.id", "users.role", "users.status"])
        .executeTakeFirst()
    : undefined;
  if (!row) return;
  const { lastSeenAt, ...person } = row;
  if (now - lastSeenAt > seenEvery) {
    await noteSeen(c, db.updateTable("sessions").set({ lastSeenAt: now }).where("id", "=", row.sessionId).execute());
    await noteSeen(c, db.updateTable("users").set({ lastSeenAt: now }).where("id", "=", row.id).execute());
  }
  return person;
}

/** The seed's user-active rule. After `signedIn`. */
export const active = createMiddleware<ApiEnv>(async (c, next) => {
  if (c.var.person.status !== "active") {
    throw new Problem(403, "Tu cuenta está inactiva. Escríbenos a soporte para reactivarla.");
  }
  await next();
});

export const isAdmin = (person: Person | undefined) => person?.role === "admin" && person.status === "active";

/** For admins; to everyone else it does not exist. After `signedIn`. */
export const admin = createMiddleware<ApiEnv>(async (c, next) => {
  if (!isAdmin(c.var.person)) throw notFound();
  await next();
});
