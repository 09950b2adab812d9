import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import { decodeJwt } from "jose";
import * as oidc from "openid-client";
import type { Db } from "../../db/engine.server.ts";
import type { AccessRow } from "../../db/tables.ts";
import { provesAccount } from "../auth/accounts.server.ts";
import { answerTokens, token } from "../auth/answer-tokens.server.ts";
import type { ApiEnv, Services } from "../env.server.ts";
import { answerInvalid, notFound, Problem } from "../http/problem.server.ts";
import { countAttempt, networkOf } from "../http/rate-limit.server.ts";
import { answers, id, takes } from "../http/schemas.server.ts";
import { addressIn, factsIn, groupsIn, upnIn } from "./claims.server.ts";
import { enter, type Facts, join, readTicket } from "./enter.server.ts";
import { providerOf, sayRefusal } from "./provider.server.ts";

const redirect = z
  .url({ protocol: /^https?$/, error: "La dirección de vuelta tiene que empezar por http:// o https://." })
  .openapi({ description: "Adónde vuelve la persona: la que está apuntada en el proveedor." });
const begun = z
  .object({
    url: z.string().openapi({ description: "Adónde hay que ir." }),
    state: z.string(),
    nonce: z.string(),
    verifier: z.string(),
  })
  .openapi("AccessBegun", { description: "Lo que hay que guardar en el navegador que empieza, y traer a la vuelta." });
const secret = z.string("Falta un dato del comienzo.").max(200, "No es válido.");
const ending = z.strictObject({
  redirect,
  brought: z
    .string("Falta lo que trae la vuelta.")
    .max(20_000, "La dirección de vuelta es demasiado larga.")
    .openapi({ description: "La consulta de la dirección con la que se ha vuelto: code, state, iss." }),
  state: secret,
  nonce: secret,
  verifier: secret,
});
export const joining = z
  .object({ ticket: z.string(), email: z.string(), needsCode: z.boolean() })
  .openapi("AccessJoining", {
    description: "El correo es el de una cuenta que hay: para unirlas hace falta su contraseña.",
  });

const named = z.object({ id: id.openapi({ param: { name: "id", in: "path" } }) });

const beginRoute = createRoute({
  method: "post",
  path: "/{id}",
  request: { params: named, body: takes(z.strictObject({ redirect })) },
  responses: { 200: answers(begun, "Empieza una entrada con un proveedor (OpenID Connect, con código y PKCE).") },
});
const begin: RouteHandler<typeof beginRoute, ApiEnv> = async (c) => {
  const { services } = c.var;
  await countAttempt(c, "signinStart", networkOf(c));
  const access = await findAccess(services.db, c.req.valid("param").id, "oidc");
  try {
    const provider = await providerOf(access, services.accessKey);
    const [state, nonce, verifier] = [oidc.randomState(), oidc.randomNonce(), oidc.randomPKCECodeVerifier()];
    const url = oidc.buildAuthorizationUrl(provider, {
      redirect_uri: c.req.valid("json").redirect,
      scope: access.scopes,
      state,
      nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    });
    return c.json({ url: url.href, state, nonce, verifier }, 200, { "Cache-Control": "no-store" });
  } catch (error) {
    throw sayRefusal(access, error, services.log);
  }
};

const endRoute = createRoute({
  method: "post",
  path: "/{id}/end",
  request: { params: named, body: takes(ending) },
  responses: {
    200: token("El token de acceso; el de refresco va en una cookie."),
    202: answers(joining, "Falta probar que la cuenta con ese correo es de la misma persona."),
  },
});
const end: RouteHandler<typeof endRoute, ApiEnv> = async (c) => {
  const { services } = c.var;
  await countAttempt(c, "signinAddress", networkOf(c));
  const access = await findAccess(services.db, c.req.valid("param").id, "oidc");
  const { redirect: back, brought, state, nonce, verifier } = c.req.valid("json");
  const url = new URL(back);
  url.search = brought;
  const facts = await factsOf(access, services, url, { state, nonce, verifier }).catch((error: unknown) => {
    throw sayRefusal(access, error, services.log);
  });
  const entered = await enter(c, access, facts);
  return "ticket" in entered ? c.json(entered, 202, { "Cache-Control": "no-store" }) : answerTokens(c, entered, 200);
};

const joinRoute = createRoute({
  method: "post",
  path: "/{id}/join",
  request: {
    params: named,
    body: takes(
      z.strictObject({
        ticket: z.string("Falta el ticket.").max(100_000, "El ticket no es válido."),
        password: z.string("Falta la contraseña.").min(1, "Falta la contraseña.").max(1000, "Es demasiado larga."),
        code: z.string("El código es un texto.").max(32, "El código es demasiado largo.").default(""),
      }),
    ),
  },
  responses: { 200: token("El token de acceso; el de refresco va en una cookie.") },
});
const joinHere: RouteHandler<typeof joinRoute, ApiEnv> = async (c) => {
  const access = await findAccess(c.var.services.db, c.req.valid("param").id);
  const { ticket, password, code } = c.req.valid("json");
  const said = readTicket(c, access, ticket);
  if (!said) throw new Problem(401, "Ha pasado demasiado tiempo. Entra otra vez desde el principio.");
  await provesAccount(c, said.userId, password, code);
  return answerTokens(c, await join(c, access, said.facts, said.userId), 200);
};

/** Sign-in with a provider of OpenID Connect (Core 1.0, code flow with PKCE). The pages do the browser's part. */
export const oidcEntries = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(beginRoute, begin)
  .openapi(endRoute, end)
  .openapi(joinRoute, joinHere);

/** An access that is enabled for sign-in. Throws 404. */
export async function findAccess(db: Db, accessId: string, kind?: AccessRow["kind"]): Promise<AccessRow> {
  return db
    .selectFrom("accesses")
    .where("id", "=", accessId)
    .where("enabled", "=", 1)
    .$if(kind !== undefined, (rows) => rows.where("kind", "=", kind ?? "oidc"))
    .selectAll()
    .executeTakeFirstOrThrow(notFound);
}

const entra =
  /^https:\/\/(?:login\.microsoftonline\.(?:com|us)|login\.partner\.microsoftonline\.cn|sts\.windows\.net)\//;

/**
 * Claims of an access token, if it is a JWT of the same provider for the same person: Keycloak puts the roles there alone. It comes from the
 * provider itself by TLS, as the ID token does.
 */
function ownTokenIn(token: string, { iss, sub }: { iss: string; sub: string }): Record<string, unknown> {
  try {
    const claims = decodeJwt(token);
    return claims.iss === iss && claims.sub === sub ? claims : {};
  } catch {
    return {};
  }
}

type Expected = { state: string; nonce: string; verifier: string };

/**
 * Facts about the person who came back from the provider. The provider's userinfo is asked for facts that the token lacks; if it fails,
 * only an address that is lacking keeps the person from coming in.
 */
async function factsOf(
  access: AccessRow,
  { accessKey, log }: Pick<Services, "accessKey" | "log">,
  url: URL,
  expected: Expected,
): Promise<Facts> {
  const provider = await providerOf(access, accessKey);
  const tokens = await oidc.authorizationCodeGrant(provider, url, {
    expectedState: expected.state,
    expectedNonce: expected.nonce,
    pkceCodeVerifier: expected.verifier,
    idTokenExpected: true,
  });
  const claims = tokens.claims();
  // PostgreSQL stores no NUL, and no real subject contains one.
  if (!claims || claims.sub.includes("\0")) throw new Error("no ID token, or one of nobody");
  const { issuer } = provider.serverMetadata();
  // Any tenant's administrator may write any address: Entra's own claim says that its domain is verified.
  const isMultiTenant = /\{tenantid\}/i.test(issuer);
  // Entra leaves out the address of people without a mailbox; their name at sign-in is one that only their administrators give.
  const nameAtEntra = entra.test(issuer) && !isMultiTenant ? addressIn(claims) : null;
  let facts = factsIn(claims, access.groupsClaim);
  // AD FS says the name at sign-in alone, which also only its administrators give.
  const isAdfs = /^https:\/\/[^/]+\/adfs\/?$/i.test(issuer) && facts.emailVerified !== false;
  const name = nameAtEntra ?? (isAdfs ? upnIn(claims) : null);
  const lacks = !facts.email || (access.groupsClaim !== "" && !facts.groups?.length);
  if (lacks && provider.serverMetadata().userinfo_endpoint) {
    try {
      const more = await oidc.fetchUserInfo(provider, tokens.access_token, claims.sub);
      facts = factsIn({ ...more, ...claims }, access.groupsClaim);
    } catch (error) {
      if (!facts.email && !name) throw error;
      log.warn({ err: error, access: access.name }, "el proveedor no da más datos de una persona");
      facts = { ...facts, groups: null };
    }
  }
  if (access.groupsClaim !== "" && facts.groups?.length === 0) {
    facts = { ...facts, groups: groupsIn(ownTokenIn(tokens.access_token, claims), access.groupsClaim) };
    if (facts.groups?.length === 0)
      log.info({ access: access.name, sub: claims.sub }, "el proveedor no dice ningún grupo de una persona");
  }
  return {
    ...facts,
    ...(name && !facts.email && { email: name, emailVerified: null }),
    ...(isMultiTenant && { emailVerified: /^(?:true|1)$/.test(String(claims.xms_edov)) }),
    subject: claims.sub,
    providerSession: typeof claims.sid === "string" && !claims.sid.includes("\0") ? claims.sid : null,
    idToken: tokens.id_token ?? null,
  };
}
