import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { hashToken } from "../secrets.server.ts";
import type { ApiEnv, Person } from "./env.server.ts";
import { notFound, Problem } from "./problem.server.ts";

// Written at most this often, as reads would otherwise each cost a write.
const seenEvery = 5 * 60_000;

/** Finds the person of the bearer token; 401 without a living one. */
export const signedIn = createMiddleware<ApiEnv>(async (c, next) => {
  const person = await findPerson(c);
  if (!person) throw new Problem(401, "Necesitas iniciar sesión.", { headers: { "WWW-Authenticate": "Bearer" } });
  c.set("person", person);
  await next();
});

/** Finds the person where a token is sent; 401 where that one is dead, so that it is refreshed. */
export const maybeSignedIn = createMiddleware<ApiEnv & { Variables: { person?: Person } }>(async (c, next) => {
  const sent = c.req.header("Authorization") !== undefined;
  return sent ? signedIn(c as Context<ApiEnv>, next) : next();
});

async function findPerson(c: Context<ApiEnv>): Promise<Person | undefined> {
  const token = /^Bearer (\S+)$/.exec(c.req.header("Authorization") ?? "")?.[1];
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
    await db.updateTable("sessions").set({ lastSeenAt: now }).where("id", "=", row.sessionId).execute();
    await db.updateTable("users").set({ lastSeenAt: now }).where("id", "=", row.id).execute();
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
