import { createHash } from "node:crypto";
import { createRoute, type Hook, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Db } from "../../db/engine.server.ts";
import type { ApiKeyRow } from "../../db/tables.ts";
import { isOwnResource } from "../../http/oauth-resource.server.ts";
import { hashToken, sameSecret } from "../../process/crypto.server.ts";
import type { ApiEnv } from "../env.server.ts";
import { recordAudit } from "../http/audit.server.ts";
import { apiKeyStart } from "../http/authentication.server.ts";
import { refusalOf } from "../http/problem.server.ts";
import { countAttempt, networkOf } from "../http/rate-limit.server.ts";
import { answers } from "../http/schemas.server.ts";
import { isClient, newSecret, oauthError, unknownClient } from "./connections.server.ts";

// In ms.
const accessLasts = 60 * 60_000;
const connectionLasts = 180 * 24 * 60 * 60_000;
// Two windows of a program may renew the same key at once: within this time the slower window is not taken for a thief.
const renewing = 60_000;

// Length of a `newSecret`, in characters.
const secretLength = 43;

const grant = z.object({
  grant_type: z.string(),
  client_id: z.string(),
  code: z.string().optional(),
  redirect_uri: z.string().optional(),
  code_verifier: z.string().optional(),
  refresh_token: z.string().optional(),
  resource: z.union([z.string(), z.array(z.string())]).optional(),
});
const ofForm = <Schema extends z.ZodType>(schema: Schema) => ({
  content: { "application/x-www-form-urlencoded": { schema } },
  required: true,
});
const tokenRoute = createRoute({
  method: "post",
  path: "/token",
  request: { body: ofForm(grant) },
  responses: {
    200: answers(
      z
        .object({
          access_token: z.string(),
          token_type: z.literal("Bearer"),
          expires_in: z.number(),
          refresh_token: z.string(),
          scope: z.string(),
        })
        .openapi("OauthToken"),
      "La clave de una conexión, que vale para /mcp durante una hora, y la que da otra.",
    ),
    400: answers(oauthError, "No se da, y por qué (RFC 6749, 5.2)."),
  },
});
const giveToken: RouteHandler<typeof tokenRoute, ApiEnv> = async (c) => {
  const given = c.req.valid("form");
  const { db, clock, changes } = c.var.services;
  const now = clock.now();
  c.header("Cache-Control", "no-store");
  const refuse = (error: string, error_description: string) => c.json({ error, error_description }, 400);
  const { origin } = new URL(c.req.url);
  if (![given.resource ?? []].flat().every((one) => isOwnResource(one, origin))) {
    return refuse("invalid_target", "Esa dirección no es la de esta casa.");
  }
  const begins = given.grant_type === "authorization_code";
  if (!begins && given.grant_type !== "refresh_token") {
    return refuse("unsupported_grant_type", "Solo authorization_code y refresh_token.");
  }
  const secret = (begins ? given.code : given.refresh_token) ?? "";
  const found = await (begins ? connectionOfCode(c, secret, given) : connectionOfRefresh(c, secret));
  if (!found || found.client !== hashToken(given.client_id)) {
    // Only failures are counted: people who guess at the same address do not block a program there that renews its key correctly.
    await countAttempt(c, "oauth", networkOf(c));
    // A program registers again if its own id is not valid, and asks the person again otherwise.
    if (!isClient(c, given.client_id)) return refuse("invalid_client", unknownClient);
    return refuse("invalid_grant", "El código o la clave ya no valen: hay que conectar otra vez.");
  }
  const access = `${apiKeyStart}${newSecret()}`;
  // This token begins with the code, so that its connection is found even after another token has replaced it.
  const refresh = `${secret.slice(0, secretLength)}${newSecret()}`;
  const { numUpdatedRows } = await db
    .updateTable("apiKeys")
    .set({
      tokenHash: hashToken(access),
      refreshHash: hashToken(refresh),
      challenge: null,
      expiresAt: now + accessLasts,
    })
    .where("id", "=", found.id)
    // No row is updated if another call with the same code or token was faster.
    .where("tokenHash", "=", found.tokenHash)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return refuse("invalid_grant", "El código o la clave se acaban de usar.");
  if (begins) {
    await endOthers(c, found);
    changes.tell({ userId: found.userId, what: "key" });
  }
  const token = { access_token: access, token_type: "Bearer" as const, expires_in: accessLasts / 1000 };
  return c.json({ ...token, refresh_token: refresh, scope: found.scope }, 200);
};

/** The connection that a code has begun. */
const connectionOf = (db: Db, code: string): Promise<ApiKeyRow | undefined> =>
  db.selectFrom("apiKeys").where("codeHash", "=", hashToken(code)).selectAll().executeTakeFirst();

/** Ends a connection and all that is under way with it, and records the end in the audit log. */
async function end(c: Context<ApiEnv>, { id, userId }: ApiKeyRow): Promise<void> {
  const { db, changes } = c.var.services;
  await db.transaction().execute(async (trx) => {
    await trx.deleteFrom("apiKeys").where("id", "=", id).execute();
    await recordAudit(trx, c, "delete", "key", id, { actorId: null, ownerId: userId });
  });
  for (const what of ["sessions", "key"] as const) changes.tell({ userId, what });
}

/** A program that connects again has one connection, not two. */
async function endOthers(c: Context<ApiEnv>, { id, userId, client }: ApiKeyRow): Promise<void> {
  const others = await c.var.services.db
    .selectFrom("apiKeys")
    .where("userId", "=", userId)
    .where("client", "=", client)
    .where("id", "!=", id)
    .where("challenge", "is", null)
    .selectAll()
    .execute();
  for (const other of others) await end(c, other);
}

/** The connection that a code begins. If the code comes twice, late or from somebody else, the connection ends: the code may be stolen. */
async function connectionOfCode(
  c: Context<ApiEnv>,
  code: string,
  given: z.output<typeof grant>,
): Promise<ApiKeyRow | undefined> {
  const { db, clock } = c.var.services;
  const found = await connectionOf(db, code);
  if (!found) return undefined;
  const challenge = createHash("sha256")
    .update(given.code_verifier ?? "")
    .digest("base64url");
  const isFirst = found.challenge !== null && sameSecret(found.challenge, challenge);
  if (isFirst && (found.expiresAt ?? 0) > clock.now() && found.redirectUri === given.redirect_uri) return found;
  await end(c, found);
  return undefined;
}

/**
 * The connection that a token renews, if this is the last token given. An earlier token, which somebody else may have, ends the connection;
 * so does the connection's age.
 */
async function connectionOfRefresh(c: Context<ApiEnv>, token: string): Promise<ApiKeyRow | undefined> {
  const { db, clock } = c.var.services;
  const now = clock.now();
  const found = await connectionOf(db, token.slice(0, secretLength));
  if (!found?.refreshHash || found.expiresAt === null) return undefined;
  const isOld = found.createdAt + connectionLasts < now;
  if (!isOld && sameSecret(found.refreshHash, hashToken(token))) return found;
  const renewedAt = found.expiresAt - accessLasts;
  if (isOld || renewedAt + renewing < now) await end(c, found);
  return undefined;
}

const revokeRoute = createRoute({
  method: "post",
  path: "/revoke",
  request: { body: ofForm(z.object({ token: z.string() })) },
  responses: { 200: { description: "La conexión ha acabado, si la había (RFC 7009)." } },
});
const revoke: RouteHandler<typeof revokeRoute, ApiEnv> = async (c) => {
  const hash = hashToken(c.req.valid("form").token);
  const found = await c.var.services.db
    .selectFrom("apiKeys")
    .where("client", "is not", null)
    .where((e) => e.or([e("tokenHash", "=", hash), e("refreshHash", "=", hash)]))
    .selectAll()
    .executeTakeFirst();
  if (found) await end(c, found);
  return c.body(null, 200);
};

/** Answers an invalid form with OAuth's error format (RFC 6749, 5.2), which programs read. */
const refuseForm: Hook<unknown, ApiEnv, string, unknown> = (result, c) =>
  result.success
    ? undefined
    : c.json({ error: "invalid_request", error_description: refusalOf(result.error).message }, 400);

/** Gives keys to connected programs and revokes keys, with OAuth's own forms. */
export const connectionTokens = new OpenAPIHono<ApiEnv>({ defaultHook: refuseForm })
  .openapi(tokenRoute, giveToken)
  .openapi(revokeRoute, revoke);
