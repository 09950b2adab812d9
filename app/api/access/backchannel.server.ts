import { createRoute, OpenAPIHono, z } from "@hono/zod-openapi";
import { createRemoteJWKSet, customFetch, decodeJwt, type JWTPayload, jwtVerify } from "jose";
import type { Db } from "../../db/engine.server.ts";
import type { AccessRow } from "../../db/tables.ts";
import type { ApiEnv, Services } from "../env.server.ts";
import { recordAudit } from "../http/audit.server.ts";
import { answerInvalid, Problem } from "../http/problem.server.ts";
import { mayEndSessions } from "../http/publish-change.server.ts";
import { countAttempt, networkOf } from "../http/rate-limit.server.ts";
import { boundedFetch, providerOf } from "./provider.server.ts";

// The claim and the type of OpenID Connect Back-Channel Logout 1.0, §2.4.
const logoutEvent = "http://schemas.openid.net/event/backchannel-logout";
const asymmetric = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
const keysTake = 10_000;

type Keys = ReturnType<typeof createRemoteJWKSet>;
const keysOf = new Map<string, Keys>();

/**
 * A provider reports that a person has signed out or was removed there: the sessions here that this provider opened for the person end.
 * The provider calls from its own machine, without a cookie; the token's signature identifies the provider.
 */
export const backchannel = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid }).openapi(
  createRoute({
    method: "post",
    path: "/backchannel",
    // Only the token tells whose sessions end, so the sockets of all people check their sessions.
    middleware: [mayEndSessions(() => "")],
    request: {
      body: {
        content: {
          "application/x-www-form-urlencoded": {
            schema: z.object({ logout_token: z.string("Falta logout_token.").max(20_000, "Es demasiado largo.") }),
          },
        },
        required: true,
      },
    },
    responses: { 200: { description: "Las sesiones que venían de ahí han terminado." } },
  }),
  async (c) => {
    const { services } = c.var;
    await countAttempt(c, "backchannel", networkOf(c));
    const { accesses, claims } = await readLogout(services, c.req.valid("form").logout_token);
    await services.db.transaction().execute(async (trx) => {
      for (const userId of await endSessions(trx, accesses, claims)) {
        const changes = { after: { access: accesses[0].name } };
        await recordAudit(trx, c, "signout", "user", userId, { actorId: null, changes });
      }
    });
    return c.body(null, 200, { "Cache-Control": "no-store" });
  },
);

/**
 * The claims of a logout token and the accesses that the token is for: one client may have several accesses, each with its own rules.
 * Throws 400 for a token that can't be trusted.
 */
async function readLogout(
  services: Services,
  token: string,
): Promise<{ accesses: [AccessRow, ...AccessRow[]]; claims: JWTPayload }> {
  try {
    const { iss = "", aud } = decodeJwt(token);
    const [access, ...others] = await services.db
      .selectFrom("accesses")
      .where("clientId", "in", [aud ?? ""].flat())
      .where("address", "in", addressesOf(iss))
      .selectAll()
      .execute();
    if (!access) throw new Error("no access has this issuer and audience");
    const { issuer, jwks_uri = "" } = (await providerOf(access, services.accessKey)).serverMetadata();
    const { payload } = await jwtVerify(token, keysAt(jwks_uri), {
      issuer,
      audience: access.clientId,
      algorithms: asymmetric,
      requiredClaims: ["iat", "jti", "events"],
      maxTokenAge: "10m",
      clockTolerance: 30,
    });
    const isLogout = Object.hasOwn(Object(payload.events), logoutEvent);
    const isOfSomebody = Boolean(payload.sub || payload.sid) && !`${payload.sub}${payload.sid}`.includes("\0");
    if (!isLogout || "nonce" in payload || !isOfSomebody) throw new Error("no logout token");
    return { accesses: [access, ...others], claims: payload };
  } catch (error) {
    services.log.warn({ err: error }, "un aviso de cierre de sesión no es de fiar");
    throw new Problem(400, "El aviso no es de un proveedor que se use aquí, o ha caducado.");
  }
}

/** Addresses by which an issuer may have been set. */
function addressesOf(issuer: string): string[] {
  const bare = issuer.replace(/\/$/, "");
  return [bare, `${bare}/`, `${bare}/.well-known/openid-configuration`];
}

function keysAt(address: string): Keys {
  const keys =
    keysOf.get(address) ??
    createRemoteJWKSet(new URL(address), { timeoutDuration: keysTake, [customFetch]: boundedFetch });
  keysOf.set(address, keys);
  return keys;
}

/** Ends the sessions here of the provider's session `sid` or, without `sid`, all of the person `sub`; returns the ids of their people. */
async function endSessions(db: Db, accesses: AccessRow[], { sub, sid }: JWTPayload): Promise<string[]> {
  const ids = accesses.map(({ id }) => id);
  const rows = await db
    .deleteFrom("sessions")
    .where("accessId", "in", ids)
    .$if(typeof sid === "string", (query) => query.where("providerSession", "=", String(sid)))
    .$if(typeof sub === "string", (query) =>
      query.where("userId", "in", (e) =>
        e
          .selectFrom("identities")
          .where("identities.accessId", "in", ids)
          .where("identities.subject", "=", String(sub))
          .select("identities.userId"),
      ),
    )
    .returning("userId")
    .execute();
  return [...new Set(rows.map(({ userId }) => userId))];
}
