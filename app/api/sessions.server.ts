import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { sql } from "kysely";
import { v7 as newId } from "uuid";
import type { Db, Engine } from "../db/connection.server.ts";
import type { UserRow } from "../db/tables.ts";
import { usageOf } from "../intelligence/usage.server.ts";
import { limits } from "../limits.ts";
import { countAttempt, forgetAttempts } from "./attempts.server.ts";
import { recordAudit } from "./audit.server.ts";
import { signedIn } from "./authentication.server.ts";
import type { ApiEnv } from "./env.server.ts";
import { checkPassword, hashPassword, isCommonPassword } from "./passwords.server.ts";
import { answerInvalid, invalid, Problem } from "./problem.server.ts";
import { answers, bearer, iso, takes, text } from "./schemas.server.ts";
import { openSession, refreshSession, type Tokens } from "./session-tokens.server.ts";
import { showUser, user } from "./users.server.ts";

const email = text("El correo electrónico", limits.email, 1).pipe(
  z.email("El correo electrónico no está completo. Escríbelo entero, como nombre@ejemplo.es."),
);
const credentials = z.object({
  email: text("El correo electrónico", limits.email, 1),
  password: z
    .string("Falta la contraseña.")
    .min(1, "Falta la contraseña.")
    .max(1000, "La contraseña es demasiado larga."),
});
const registration = z.object({
  name: text("El nombre", limits.name, 1),
  email,
  password: z
    .string("Falta la contraseña.")
    .min(limits.passwordMin, `La contraseña tiene que tener ${limits.passwordMin} caracteres o más.`)
    .max(limits.passwordMax, `La contraseña puede tener ${limits.passwordMax} caracteres como mucho.`),
});
const session = z
  .object({
    user,
    subscription: z.object({
      plan: z.enum(["gratis", "pro", "equipo"]),
      status: z.enum(["active", "past_due", "canceled"]),
      messagesPerDay: z.number().nullable(),
      tokensPerMonth: z.number().nullable(),
    }),
    usage: z.object({ messagesToday: z.number(), tokensThisMonth: z.number() }),
    expiresAt: z.string(),
  })
  .openapi("Session");

const token = (description: string) => ({ content: { "text/plain": { schema: z.string() } }, description });

export const sessions = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(
    createRoute({
      method: "post",
      path: "/signup",
      request: { body: takes(registration) },
      responses: { 201: token("El token de acceso; el de refresco va en una cookie.") },
    }),
    async (c) => {
      await countAttempt(c.var.services, "signup", c.env.ip ?? "");
      const tokens = await signUp(c, c.req.valid("json"));
      return answerTokens(c, tokens, 201);
    },
  )
  .openapi(
    createRoute({
      method: "post",
      path: "/signin",
      request: { body: takes(credentials) },
      responses: { 200: token("El token de acceso; el de refresco va en una cookie.") },
    }),
    async (c) => {
      const tokens = await signIn(c, c.req.valid("json"));
      return answerTokens(c, tokens, 200);
    },
  )
  .openapi(
    createRoute({ method: "post", path: "/refresh", responses: { 200: token("Un nuevo token de acceso.") } }),
    async (c) => {
      const { db, tokenKey } = c.var.services;
      const tokens = await refreshSession(db, tokenKey, getCookie(c, "refresh") ?? "");
      if (!tokens) throw new Problem(401, "Session expirada, por favor inicia sesión nuevamente.");
      return answerTokens(c, tokens, 200);
    },
  )
  .openapi(
    createRoute({
      method: "get",
      path: "/session",
      security: bearer,
      middleware: [signedIn],
      responses: { 200: answers(session, "Quién ha iniciado sesión, su plan y su uso.") },
    }),
    async (c) => c.json(await showSession(c), 200),
  )
  .openapi(
    createRoute({
      method: "post",
      path: "/signout",
      security: bearer,
      middleware: [signedIn],
      responses: { 204: { description: "La sesión ha terminado." } },
    }),
    async (c) => {
      const { person, services } = c.var;
      await services.db.deleteFrom("sessions").where("id", "=", person.sessionId).execute();
      await recordAudit(services.db, c, {
        actorId: person.id,
        action: "signout",
        resource: "session",
        resourceId: person.sessionId,
      });
      deleteCookie(c, "refresh", { path: "/" });
      return c.body(null, 204);
    },
  );

async function signUp(c: Context<ApiEnv>, given: z.output<typeof registration>): Promise<Tokens> {
  const { db, engine, config, tokenKey } = c.var.services;
  if (await isCommonPassword(given.password)) {
    throw invalid("password", "Esa contraseña es de las más usadas y se adivina enseguida. Elige otra.");
  }
  const passwordHash = await hashPassword(given.password);
  const now = Date.now();
  const account = await db.transaction().execute(async (trx) => {
    const first = await isFirstAccount(trx, engine);
    if (config.signup === "closed" && !first) {
      throw new Problem(403, "El registro está cerrado. Pide una cuenta a quien administra esta instalación.");
    }
    const row: UserRow = {
      id: newId(),
      createdAt: now,
      updatedAt: now,
      name: given.name,
      email: given.email,
      emailKey: given.email.toLowerCase(),
      passwordHash,
      role: first ? "admin" : "user",
      status: "active",
      draft: null,
      lastSeenAt: now,
    };
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto("users")
      .values(row)
      .onConflict((conflict) => conflict.column("emailKey").doNothing())
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows === 0n) {
      throw new Problem(409, "El usuario ya se encuentra registrado en la plataforma", {
        errors: { email: "El usuario ya se encuentra registrado en la plataforma" },
      });
    }
    await trx
      .insertInto("subscriptions")
      .values({
        id: newId(),
        createdAt: now,
        updatedAt: now,
        userId: row.id,
        plan: "gratis",
        status: "active",
        startsAt: now,
        endsAt: null,
        messagesPerDay: null,
        tokensPerMonth: null,
        storageMb: null,
      })
      .execute();
    await recordAudit(trx, c, { actorId: row.id, action: "signup", resource: "user", resourceId: row.id });
    return row;
  });
  return openSession(db, tokenKey, {
    userId: account.id,
    userAgent: c.req.header("User-Agent") ?? "",
    ip: c.env.ip ?? "",
  });
}

async function isFirstAccount(db: Db, engine: Engine): Promise<boolean> {
  // Two sign-ups at the same moment must not both be the first; SQLite has one transaction at a time anyway.
  if (engine === "postgres") await sql`lock table users in share row exclusive mode`.execute(db);
  return !(await db.selectFrom("users").select("id").limit(1).executeTakeFirst());
}

async function signIn(c: Context<ApiEnv>, { email, password }: z.output<typeof credentials>): Promise<Tokens> {
  const { services } = c.var;
  const emailKey = email.toLowerCase();
  await countAttempt(services, "signinAddress", c.env.ip ?? "");
  await countAttempt(services, "signinAccount", emailKey);
  const account = await services.db
    .selectFrom("users")
    .where("emailKey", "=", emailKey)
    .select(["id", "passwordHash"])
    .executeTakeFirst();
  if (!(await checkPassword(account?.passwordHash, password)) || !account) {
    await recordAudit(services.db, c, {
      actorId: null,
      action: "signin-failed",
      resource: "user",
      resourceId: account?.id ?? null,
    });
    throw new Problem(401, "El correo o la contraseña no son correctos.");
  }
  await forgetAttempts(services, "signinAccount", emailKey);
  await recordAudit(services.db, c, {
    actorId: account.id,
    action: "signin",
    resource: "user",
    resourceId: account.id,
  });
  return openSession(services.db, services.tokenKey, {
    userId: account.id,
    userAgent: c.req.header("User-Agent") ?? "",
    ip: c.env.ip ?? "",
  });
}

function answerTokens<Status extends 200 | 201>(c: Context<ApiEnv>, tokens: Tokens, status: Status) {
  setCookie(c, "refresh", tokens.refresh, {
    path: "/",
    httpOnly: true,
    sameSite: "Strict",
    secure: new URL(c.req.url).protocol === "https:",
    expires: new Date(tokens.refreshExpiresAt),
  });
  return c.text(tokens.access, status, { "Cache-Control": "no-store" });
}

async function showSession(c: Context<ApiEnv>): Promise<z.output<typeof session>> {
  const { db } = c.var.services;
  const { id, sessionId } = c.var.person;
  const now = Date.now();
  const [account, subscription, open, usage] = await Promise.all([
    db.selectFrom("users").where("id", "=", id).selectAll().executeTakeFirstOrThrow(),
    db
      .selectFrom("subscriptions")
      .where("userId", "=", id)
      .orderBy("startsAt", "desc")
      .select(["plan", "status", "messagesPerDay", "tokensPerMonth"])
      .executeTakeFirst(),
    db.selectFrom("sessions").where("id", "=", sessionId).select("refreshExpiresAt").executeTakeFirstOrThrow(),
    usageOf(db, id, now),
  ]);
  return {
    user: showUser(account),
    subscription: subscription ?? { plan: "gratis", status: "active", messagesPerDay: null, tokensPerMonth: null },
    usage,
    expiresAt: iso(open.refreshExpiresAt),
  };
}
