import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { deleteCookie, getCookie } from "hono/cookie";
import { prepared } from "../../db/prepared.server.ts";
import { leavingUrl } from "../access/leave.server.ts";
import type { ApiEnv, Person } from "../env.server.ts";
import { recordAudit } from "../http/audit.server.ts";
import { active, noProgram, notSignedIn, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, notFound, Problem } from "../http/problem.server.ts";
import { mayEndSessions } from "../http/publish-change.server.ts";
import { countAttempt, networkOf } from "../http/rate-limit.server.ts";
import { answers, bearer, iso, takes } from "../http/schemas.server.ts";
import { planUse, planUseOf } from "../users/plan-use.server.ts";
import { showUser, user } from "../users/user-fields.server.ts";
import { credentials, mayJoin, registration, signIn, signInWithCode, signUp } from "./accounts.server.ts";
import { answerTokens, token } from "./answer-tokens.server.ts";
import { secondStep } from "./authenticator-codes.server.ts";
import { canReset } from "./password-resets.server.ts";
import { refreshSession } from "./session-tokens.server.ts";

const session = z
  .object({
    user,
    ...planUse.shape,
    expiresAt: z.string(),
    owesTerms: z.boolean().openapi({ description: "Si antes de seguir tiene que aceptar las condiciones." }),
    owesSecondStep: z.boolean().openapi({ description: "Si antes tiene que activar la verificación en dos pasos." }),
  })
  .openapi("Session");

const options = z.object({
  signup: z.boolean(),
  reset: z.boolean(),
  password: z.boolean().openapi({ description: "Si se entra con contraseña." }),
  accesses: z
    .array(z.object({ id: z.string(), name: z.string(), kind: z.enum(["oidc", "ldap"]) }))
    .openapi({ description: "Los proveedores con los que se entra." }),
});

const signUpHereRoute = createRoute({
  method: "post",
  path: "/signup",
  request: { body: takes(registration) },
  responses: { 201: token("El token de acceso; el de refresco va en una cookie.") },
});
const signUpHere: RouteHandler<typeof signUpHereRoute, ApiEnv> = async (c) => {
  await countAttempt(c, "signup", networkOf(c));
  const tokens = await signUp(c, c.req.valid("json"));
  return answerTokens(c, tokens, 201);
};

const signInHereRoute = createRoute({
  method: "post",
  path: "/signin",
  request: { body: takes(credentials) },
  responses: { 200: token("El token de acceso; el de refresco va en una cookie.") },
});
const signInHere: RouteHandler<typeof signInHereRoute, ApiEnv> = async (c) => {
  const opened = await signIn(c, c.req.valid("json"));
  if ("access" in opened) return answerTokens(c, opened, 200);
  throw new Problem(401, "Escribe el código de tu aplicación de verificación.", { ticket: opened.ticket });
};

const enterCodeRoute = createRoute({
  method: "post",
  path: "/signin/code",
  request: { body: takes(secondStep) },
  responses: { 200: token("El token de acceso; el de refresco va en una cookie.") },
});
const enterCode: RouteHandler<typeof enterCodeRoute, ApiEnv> = async (c) =>
  answerTokens(c, await signInWithCode(c, c.req.valid("json")), 200);

const showOptionsRoute = createRoute({
  method: "get",
  path: "/options",
  responses: { 200: answers(options, "Qué puede hacer quien aún no ha entrado.") },
});
const showOptions: RouteHandler<typeof showOptionsRoute, ApiEnv> = async (c) => {
  const { services } = c.var;
  const accesses = await services.db
    .selectFrom("accesses")
    .where("enabled", "=", 1)
    .orderBy("position")
    .orderBy("id")
    .select(["id", "name", "kind"])
    .execute();
  const password = services.config.passwordSignin;
  return c.json({ signup: await mayJoin(services), reset: canReset(services), password, accesses }, 200);
};

const refreshRoute = createRoute({
  method: "post",
  path: "/refresh",
  responses: { 200: token("Un nuevo token de acceso.") },
});
const refresh: RouteHandler<typeof refreshRoute, ApiEnv> = async (c) => {
  const tokens = await refreshSession(c.var.services, getCookie(c, "refresh") ?? "");
  if (!tokens) throw new Problem(401, "Session expirada, por favor inicia sesión nuevamente.");
  return answerTokens(c, tokens, 200);
};

const showCurrentRoute = createRoute({
  method: "get",
  path: "/session",
  security: bearer,
  middleware: [signedIn, noProgram],
  responses: { 200: answers(session, "Quién ha iniciado sesión, su plan y su uso.") },
});
const showCurrent: RouteHandler<typeof showCurrentRoute, ApiEnv> = async (c) => c.json(await showSession(c), 200);

const showPersonRoute = createRoute({
  method: "get",
  path: "/person",
  security: bearer,
  middleware: [signedIn, active],
  responses: {
    200: answers(z.object({ id: z.string(), name: z.string() }).openapi("Person"), "De quién es la sesión o la clave."),
  },
});
const showPerson: RouteHandler<typeof showPersonRoute, ApiEnv> = async (c) => {
  const account = c.var.services.db.selectFrom("users").where("id", "=", c.var.person.id).select(["id", "name"]);
  return c.json(await account.executeTakeFirstOrThrow(notFound), 200);
};

const signOutRoute = createRoute({
  method: "post",
  path: "/signout",
  security: bearer,
  middleware: [signedIn, noProgram, mayEndSessions((c) => c.var.person.id)],
  request: {
    query: z.object({
      back: z
        .url({ protocol: /^https?$/, error: "La dirección de vuelta tiene que empezar por http:// o https://." })
        .optional()
        .openapi({ description: "Adónde se vuelve desde el proveedor, si la sesión venía de uno." }),
    }),
  },
  responses: {
    200: answers(z.object({ url: z.string() }), "La sesión ha terminado; la del proveedor termina en esa dirección."),
    204: { description: "La sesión ha terminado." },
  },
});
const signOut: RouteHandler<typeof signOutRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const url = await leavingUrl(services, person.sessionId, c.req.valid("query").back);
  await services.db.transaction().execute(async (trx) => {
    await trx.deleteFrom("sessions").where("id", "=", person.sessionId).execute();
    await recordAudit(trx, c, "signout", "session", person.sessionId);
  });
  deleteCookie(c, "refresh", { path: "/" });
  return url === undefined ? c.body(null, 204) : c.json({ url }, 200);
};

export const sessions = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(signUpHereRoute, signUpHere)
  .openapi(signInHereRoute, signInHere)
  .openapi(enterCodeRoute, enterCode)
  .openapi(showOptionsRoute, showOptions)
  .openapi(refreshRoute, refresh)
  .openapi(showCurrentRoute, showCurrent)
  .openapi(showPersonRoute, showPerson)
  .openapi(signOutRoute, signOut);

async function showSession(c: Context<ApiEnv>): Promise<z.output<typeof session>> {
  const { db } = c.var.services;
  const { sessionId } = c.var.person;
  const [account] = (await findAccount(db, { sessionId })).rows;
  // The session may have ended since the call was let in.
  if (!account) throw notSignedIn();
  return {
    user: showUser(account, c.var.person),
    ...(await planUseOf(db, account)),
    expiresAt: iso(account.refreshExpiresAt),
    owesTerms: c.var.person.owesTerms,
    owesSecondStep: c.var.person.owesSecondStep,
  };
}

const findAccount = prepared((db, { sessionId }: Pick<Person, "sessionId">) =>
  db
    .selectFrom("sessions")
    .innerJoin("users", "users.id", "sessions.userId")
    .where("sessions.id", "=", sessionId)
    .selectAll("users")
    .select("sessions.refreshExpiresAt"),
);
