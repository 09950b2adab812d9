import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { currentPlan } from "../db/plans.server.ts";
import { storedBytes } from "../files/files.server.ts";
import { usageOf } from "../intelligence/usage.server.ts";
import { credentials, mayJoin, registration, signIn, signInWithCode, signUp } from "./accounts.server.ts";
import { countAttempt, networkOf } from "./attempts.server.ts";
import { recordAudit } from "./audit.server.ts";
import { signedIn } from "./authentication.server.ts";
import { secondStep } from "./authenticator-codes.server.ts";
import type { ApiEnv } from "./env.server.ts";
import { canReset } from "./password-resets.server.ts";
import { answerInvalid, Problem } from "./problem.server.ts";
import { answers, bearer, iso, isoOrNull, takes } from "./schemas.server.ts";
import { refreshSession, type Tokens } from "./session-tokens.server.ts";
import { showUser, user } from "./user-fields.server.ts";

const session = z
  .object({
    user,
    subscription: z.object({
      plan: z.enum(["gratis", "pro", "equipo"]),
      status: z.enum(["active", "past_due", "canceled"]),
      startsAt: z.string(),
      endsAt: z.string().nullable(),
      messagesPerDay: z.number().nullable(),
      tokensPerMonth: z.number().nullable(),
      storageMb: z.number().nullable(),
    }),
    usage: z.object({
      messagesToday: z.number(),
      tokensThisMonth: z.number(),
      storedBytes: z.number(),
    }),
    expiresAt: z.string(),
  })
  .openapi("Session");

const options = z.object({ signup: z.boolean(), reset: z.boolean() });

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
      await countAttempt(c, "signup", networkOf(c));
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
      const opened = await signIn(c, c.req.valid("json"));
      if ("access" in opened) return answerTokens(c, opened, 200);
      throw new Problem(401, "Escribe el código de tu aplicación de verificación.", { ticket: opened.ticket });
    },
  )
  .openapi(
    createRoute({
      method: "post",
      path: "/signin/code",
      request: { body: takes(secondStep) },
      responses: { 200: token("El token de acceso; el de refresco va en una cookie.") },
    }),
    async (c) => answerTokens(c, await signInWithCode(c, c.req.valid("json")), 200),
  )
  .openapi(
    createRoute({
      method: "get",
      path: "/options",
      responses: { 200: answers(options, "Qué puede hacer quien aún no ha entrado.") },
    }),
    async (c) => {
      const { services } = c.var;
      return c.json({ signup: await mayJoin(services), reset: canReset(services) }, 200);
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
  const [account, plan, latest, open, usage, stored] = await Promise.all([
    db.selectFrom("users").where("id", "=", id).selectAll().executeTakeFirstOrThrow(),
    currentPlan(db, id, now),
    db.selectFrom("subscriptions").where("userId", "=", id).orderBy("startsAt", "desc").selectAll().executeTakeFirst(),
    db.selectFrom("sessions").where("id", "=", sessionId).select("refreshExpiresAt").executeTakeFirstOrThrow(),
    usageOf(db, id, now),
    storedBytes(db, id),
  ]);
  // One that is over or unpaid is still shown, but its limits hold no more.
  const subscription = plan ?? latest;
  return {
    user: showUser(account),
    subscription: {
      plan: subscription?.plan ?? "gratis",
      status: subscription?.status ?? "active",
      startsAt: iso(subscription?.startsAt ?? account.createdAt),
      endsAt: isoOrNull(subscription?.endsAt ?? null),
      messagesPerDay: plan?.messagesPerDay ?? null,
      tokensPerMonth: plan?.tokensPerMonth ?? null,
      storageMb: plan?.storageMb ?? null,
    },
    usage: { ...usage, storedBytes: stored },
    expiresAt: iso(open.refreshExpiresAt),
  };
}
