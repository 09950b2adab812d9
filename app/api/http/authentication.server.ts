import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { sql } from "kysely";
import { prepared } from "../../db/prepared.server.ts";
import { bearerOf } from "../../http/header.server.ts";
import { hashToken } from "../../process/crypto.server.ts";
import { currentTrace } from "../../process/telemetry/request-trace.server.ts";
import type { ApiEnv, Person, Services } from "../env.server.ts";
import { notFound, Problem } from "./problem.server.ts";

// In ms: the time of last use is written at most this often, so that reads do not each cost a write.
const seenEvery = 5 * 60_000;

/** The prefix of API keys; session tokens do not have it. */
export const apiKeyStart = "ter_";

/** Authenticates a bearer token (a session's or an API key), also as Anthropic's clients send it; 401 without a valid one. */
export const signedIn = createMiddleware<ApiEnv>(async (c, next) => {
  const [bearer, key] = [bearerOf(c.req.raw), c.req.header("X-Api-Key")];
  // The token of a gateway in front may stand beside the key.
  const person = (bearer && (await findOnce(c, bearer))) || (key && (await findOnce(c, key)));
  if (!person) throw notSignedIn();
  c.set("person", person);
  const trace = currentTrace();
  if (trace) trace.personId = person.id;
  await next();
});

/** The refusal of a caller who has no session, or whose session has ended. */
export const notSignedIn = () =>
  new Problem(401, "Necesitas iniciar sesión.", { headers: { "WWW-Authenticate": "Bearer" } });

/** The reads of one page are made for the same person at the same time, so the first of them finds out for all. */
function findOnce(c: Context<ApiEnv>, token: string): Promise<Person | undefined> {
  const found = c.env.people?.get(token);
  if (found) return found;
  const person = token.startsWith(apiKeyStart) ? findByKey(c, token) : findBySession(c, token);
  c.env.people?.set(token, person);
  return person;
}

/** Refuses API keys: sessions, keys, accounts and backups are managed by people only. After `signedIn`. */
export const noProgram = createMiddleware<ApiEnv>(async (c, next) => {
  if (c.var.person.keyId) throw new Problem(403, "Esto solo se hace con la sesión iniciada, no con una clave.");
  await next();
});

async function findByKey(c: Context<ApiEnv>, token: string): Promise<Person | undefined> {
  const { db, clock } = c.var.services;
  const now = clock.now();
  const row = await db
    .selectFrom("apiKeys")
    .innerJoin("users", "users.id", "apiKeys.userId")
    .leftJoin("acceptances", "acceptances.userId", "users.id")
    .where("apiKeys.tokenHash", "=", hashToken(token))
    .where((e) => e.or([e("apiKeys.expiresAt", "is", null), e("apiKeys.expiresAt", ">", now)]))
    // A connection's key is for /mcp alone.
    .$if(!c.env.ofMcp, (query) => query.where("apiKeys.client", "is", null))
    .select(["apiKeys.id as keyId", "apiKeys.scope", "apiKeys.lastUsedAt", "users.id", "users.role", "users.status"])
    .select(["acceptances.textAt as acceptedAt", termsAt.as("termsAt")])
    .executeTakeFirst();
  if (!row) return;
  const { keyId, scope, lastUsedAt, acceptedAt, termsAt: newest, ...person } = row;
  const reads = c.req.method === "GET" || c.req.method === "HEAD";
  if (scope === "read" && !reads) throw new Problem(403, "Esta clave solo puede leer.");
  if (now - (lastUsedAt ?? 0) > seenEvery) {
    await noteSeen(c, db.updateTable("apiKeys").set({ lastUsedAt: now }).where("id", "=", keyId).execute());
  }
  // No session id, so API keys can't use temporary chats.
  const owesTerms = owes({ acceptedAt, termsAt: newest });
  return { ...person, sessionId: "", keyId, owesTerms, owesSecondStep: false };
}

/** A full disk must not stop reads. */
const noteSeen = (c: Context<ApiEnv>, writing: Promise<unknown>) =>
  writing.catch((error) => c.var.services.log.error({ err: error }, "no se pudo anotar una visita"));

/** Authenticates if a token is sent. An invalid token is a 401, so that the client refreshes it. */
export const maybeSignedIn = createMiddleware<ApiEnv & { Variables: { person?: Person } }>(async (c, next) => {
  const sent = c.req.header("Authorization") !== undefined;
  return sent ? signedIn(c as Context<ApiEnv>, next) : next();
});

async function findBySession(c: Context<ApiEnv>, token: string): Promise<Person | undefined> {
  const { db, clock } = c.var.services;
  const now = clock.now();
  const [row] = token ? (await openSession(db, { accessHash: hashToken(token), now })).rows : [];
  if (!row) return;
  const { lastSeenAt, acceptedAt, termsAt: newest, idleMinutes, secondStep, hasSecondStep, ...person } = row;
  if (isIdle(lastSeenAt, now, idleMinutes)) return;
  if (now - lastSeenAt > seenEvery) {
    await noteSeen(c, db.updateTable("sessions").set({ lastSeenAt: now }).where("id", "=", row.sessionId).execute());
    await noteSeen(c, db.updateTable("users").set({ lastSeenAt: now }).where("id", "=", row.id).execute());
  }
  // With passwords off there is nothing to add a step to: a person without a provider has signed in with a link made on the server.
  const { passwordSignin } = c.var.services.config;
  const isAsked = passwordSignin && (secondStep === "all" || (secondStep === "admins" && person.role === "admin"));
  return {
    ...person,
    owesTerms: owes({ acceptedAt, termsAt: newest }),
    owesSecondStep: isAsked && Number(hasSecondStep) === 0,
  };
}

/**
 * Whether a session has been unused for longer than the house allows. Use is noted only every few minutes, so a session may last that much
 * longer. `lastSeenAt`, `now`: epoch ms.
 */
export const isIdle = (lastSeenAt: number, now: number, idleMinutes: number | null): boolean =>
  idleMinutes !== null && now - lastSeenAt > Number(idleMinutes) * 60_000 + seenEvery;

const openSession = prepared((db, { accessHash, now }: { accessHash: string; now: number }) =>
  db
    .selectFrom("sessions")
    .innerJoin("users", "users.id", "sessions.userId")
    .leftJoin("acceptances", "acceptances.userId", "users.id")
    .where("sessions.accessHash", "=", accessHash)
    .where("sessions.accessExpiresAt", ">", now)
    .select(["sessions.id as sessionId", "sessions.lastSeenAt", "users.id", "users.role", "users.status"])
    .select(["acceptances.textAt as acceptedAt", termsAt.as("termsAt"), hasSecondStep.as("hasSecondStep")])
    .select((e) => [
      e.selectFrom("house").select("secondStep").as("secondStep"),
      e.selectFrom("house").select("idleMinutes").as("idleMinutes"),
    ]),
);

/** The account with this id as a `Person` without a session; undefined if there is no such account. For later work in its name. */
export async function findPerson({ db }: Pick<Services, "db">, userId: string): Promise<Person | undefined> {
  const row = await db
    .selectFrom("users")
    .leftJoin("acceptances", "acceptances.userId", "users.id")
    .where("users.id", "=", userId)
    .select(["users.id", "users.role", "users.status"])
    .select(["acceptances.textAt as acceptedAt", termsAt.as("termsAt")])
    .executeTakeFirst();
  if (!row) return;
  const { acceptedAt, termsAt: newest, ...person } = row;
  return { ...person, sessionId: "", owesTerms: owes({ acceptedAt, termsAt: newest }), owesSecondStep: false };
}

/** The newest text among the pages that have to be accepted; null: none has to. */
const termsAt = sql<number | null>`(select max("textAt") from pages where "mustAccept" = 1 and published = 1)`;

/**
 * Whether a session counts as opened with a second step: by a passkey; by a proxy, a provider or a directory, which has its own rules; or
 * by an account with an authenticator app, as its password needs a code.
 */
const hasSecondStep = sql<number>`case when sessions."byPasskey" = 1 or sessions."accessId" is not null or sessions."providerSession" is not null
  or exists (select 1 from authenticators where "userId" = users.id and "confirmedAt" is not null) then 1 else 0 end`;

/** Whether somebody has pages to accept before they go on. */
const owes = ({ acceptedAt, termsAt: newest }: { acceptedAt: number | null; termsAt: number | null }): boolean =>
  newest !== null && Number(newest) > (acceptedAt ?? 0);

/** Refuses accounts that are not active, and people who have something to accept before. After `signedIn`. */
export const active = createMiddleware<ApiEnv>(async (c, next) => {
  refuseInactive(c.var.person);
  await next();
});

/** Throws 403 for an account that is not active, or has something to accept before. */
export function refuseInactive({ status, owesTerms, owesSecondStep }: Owing): void {
  if (status !== "active") {
    throw new Problem(403, "Tu cuenta está inactiva. Escríbenos a soporte para reactivarla.");
  }
  if (owesSecondStep) throw needsSecondStep();
  if (owesTerms) {
    throw new Problem(403, "Antes de seguir hay que aceptar las condiciones: están en /user/condiciones.");
  }
}

type Owing = Pick<Person, "status" | "owesTerms" | "owesSecondStep">;

const needsSecondStep = () =>
  new Problem(
    403,
    "Antes de seguir hay que activar la verificación en dos pasos, en /user/seguridad, o entrar con una llave de acceso.",
  );

/** Whether a person may act as an administrator; if the person owes a second step, not before it. */
export const isAdmin = (person: Person | undefined) =>
  person?.role === "admin" && person.status === "active" && !person.owesSecondStep;

/** Refuses a person who owes a second step, also in calls that an inactive account may make. After `signedIn`. */
export const withSecondStep = createMiddleware<ApiEnv>(async (c, next) => {
  if (c.var.person.owesSecondStep) throw needsSecondStep();
  await next();
});

/** Only for admins; everyone else gets a 404. After `signedIn`. */
export const admin = createMiddleware<ApiEnv>(async (c, next) => {
  const { role, status, owesSecondStep } = c.var.person;
  if (owesSecondStep && role === "admin" && status === "active") throw needsSecondStep();
  if (!isAdmin(c.var.person)) throw notFound();
  await next();
});
