import { randomBytes } from "node:crypto";
import { createRoute, OpenAPIHono, type RouteHandler, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { newRow } from "../../db/rows.server.ts";
import type { ApiKeyRow } from "../../db/tables.ts";
import { encrypt, hashToken, tryDecrypt } from "../../process/crypto.server.ts";
import { limits } from "../../process/limits.ts";
import { parseJson } from "../../process/text/json.ts";
import type { ApiEnv } from "../env.server.ts";
import { recordAudit } from "../http/audit.server.ts";
import { active, apiKeyStart, noProgram, signedIn } from "../http/authentication.server.ts";
import { answerInvalid, invalid, refusalOf } from "../http/problem.server.ts";
import { countAttempt, networkOf } from "../http/rate-limit.server.ts";
import { answers, bearer, line, takes } from "../http/schemas.server.ts";
import { refuseManyKeys } from "./api-keys.server.ts";

// In ms: most programs exchange their code at once; with some programs, a person copies the code by hand.
const codeLasts = 5 * 60_000;

/** A secret of 256 bits: a code, or a part of a token. */
export const newSecret = () => randomBytes(32).toString("base64url");

/** A program that has registered. Nothing about it is stored: its client id is this object, encrypted. */
type Client = { name: string; redirectUris: string[] };

// A program registers these fields without anybody signed in.
const redirectUri = z
  .string("Tiene que ser una dirección.")
  .max(500, "Es demasiado larga.")
  .refine(isRedirect, "Tiene que ser una dirección https, de esta máquina (http://127.0.0.1) o de un programa.")
  .transform((address) => new URL(address).href);
const registration = z.object({
  redirect_uris: z.array(redirectUri, "Faltan las direcciones de vuelta.").min(1, "Faltan.").max(10, "Son demasiadas."),
  client_name: line("El nombre", limits.name)
    // Removes characters that reverse the direction of a line or can't be seen.
    .transform((name) => name.replace(/\p{Cf}/gu, ""))
    .optional(),
  token_endpoint_auth_method: z.string().optional(),
});
const clientSchema = z.object({ name: z.string(), redirectUris: z.array(z.string()) });
const clientIdentity = "oauth-client";
const clientIdAtMost = 4_000;

/** Whether a program may be answered at an address (RFC 8252): over TLS, on the person's own machine, or by a scheme of its own. */
function isRedirect(address: string): boolean {
  const url = URL.parse(address);
  if (!url || url.hash || url.username || url.password) return false;
  if (url.protocol === "http:") return /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
  return url.protocol === "https:" || ofPrograms.test(url.protocol);
}

// Schemes of programs: a reversed domain name, as RFC 8252 wants it, or a scheme of a known program. Schemes on which browsers or systems
// act themselves do not match.
const ofPrograms =
  /^(?:[a-z][a-z\d+-]*(?:\.[a-z\d+-]+)+|chatgpt|claude|codex|cursor|goose|jetbrains|raycast|vscode|vscode-insiders|vscodium|warp|windsurf|zed):$/;

/** Whether an address was registered; with http, which is only for the person's own machine, at any port, as programs take a free port. */
function isRegistered(address: string, { redirectUris }: Client): boolean {
  const withoutPort = (one: string) => {
    const url = URL.parse(one);
    if (url?.protocol === "http:") url.port = "";
    return url?.href;
  };
  return redirectUris.some((one) => withoutPort(one) === withoutPort(address));
}

/** A refusal in the form that programs read (RFC 6749, 5.2). */
export const oauthError = z.object({ error: z.string(), error_description: z.string() }).openapi("OauthError");

const registerRoute = createRoute({
  method: "post",
  path: "/register",
  request: {
    body: takes(registration.openapi("OauthRegistration", { example: { redirect_uris: ["http://127.0.0.1/"] } })),
  },
  responses: {
    201: answers(
      z
        .object({
          client_id: z.string(),
          client_id_issued_at: z.number(),
          client_name: z.string(),
          redirect_uris: z.array(z.string()),
          token_endpoint_auth_method: z.literal("none"),
          grant_types: z.array(z.string()),
          response_types: z.array(z.string()),
        })
        .openapi("OauthClient"),
      "El programa, que ya puede pedir permiso a una persona (RFC 7591).",
    ),
    400: answers(oauthError, "No se registra, y por qué (RFC 7591, 3.2.2)."),
  },
});
const register: RouteHandler<typeof registerRoute, ApiEnv> = async (c) => {
  await countAttempt(c, "oauthRegistration", networkOf(c));
  const { redirect_uris, client_name } = c.req.valid("json");
  const client: Client = { name: client_name || hostOf(redirect_uris[0] ?? ""), redirectUris: redirect_uris };
  const sealed = encrypt(JSON.stringify(client), c.var.services.modelKey, clientIdentity);
  if (sealed.length > clientIdAtMost)
    return c.json({ error: "invalid_redirect_uri", error_description: "Son demasiado largas." }, 400);
  return c.json(
    {
      client_id: Buffer.from(sealed, "base64").toString("base64url"),
      client_id_issued_at: Math.floor(Date.now() / 1000),
      client_name: client.name,
      redirect_uris,
      token_endpoint_auth_method: "none" as const,
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
    },
    201,
    { "Cache-Control": "no-store" },
  );
};

/** Host of an address, as shown to a person; for a program on their device only the scheme, because the rest is no website. */
function hostOf(address: string): string {
  const { protocol = "", host = "" } = URL.parse(address) ?? {};
  return /^https?:$/.test(protocol) ? host : `${protocol} (un programa de este dispositivo)`;
}

export const unknownClient = "Esta casa no conoce a ese programa: tiene que registrarse otra vez.";

/** The program with an id that this house has given. Throws 422. */
function clientOf(c: Context<ApiEnv>, id: string): Client {
  const client = openClient(c, id);
  if (!client) throw invalid("client_id", unknownClient);
  return client;
}

/** Whether this house has given an id to a program. */
export const isClient = (c: Context<ApiEnv>, id: string): boolean => openClient(c, id) !== undefined;

function openClient(c: Context<ApiEnv>, id: string): Client | undefined {
  const sealed = Buffer.from(id, "base64url").toString("base64");
  const opened = tryDecrypt(sealed, c.var.services.modelKey, clientIdentity);
  return clientSchema.safeParse(opened === undefined ? undefined : parseJson(opened)).data;
}

const asking = {
  client_id: z.string("Falta el programa.").max(2 * clientIdAtMost, "Es demasiado largo."),
  redirect_uri: z
    .string("Falta la dirección de vuelta.")
    .max(500, "Es demasiado larga.")
    .regex(/^[!-~]*$/, "La dirección de vuelta no es una dirección."),
};
const consentRoute = { path: "/consent" as const, security: bearer };

const showConsentRoute = createRoute({
  ...consentRoute,
  method: "get",
  middleware: [signedIn, noProgram, active],
  request: { query: z.object(asking) },
  responses: {
    200: answers(
      z.object({ name: z.string(), host: z.string() }).openapi("OauthConsent"),
      "Qué programa pide permiso, y adónde vuelve la persona.",
    ),
  },
});
const showConsent: RouteHandler<typeof showConsentRoute, ApiEnv> = async (c) => {
  const { client_id, redirect_uri } = c.req.valid("query");
  const client = clientOf(c, client_id);
  refuseUnregistered(redirect_uri, client);
  return c.json({ name: client.name, host: hostOf(redirect_uri) }, 200);
};

function refuseUnregistered(address: string, client: Client): void {
  if (!isRedirect(address) || !isRegistered(address, client)) {
    throw invalid("redirect_uri", "La dirección de vuelta no es de las que ese programa registró.");
  }
}

const giveConsentRoute = createRoute({
  ...consentRoute,
  method: "post",
  middleware: [signedIn, noProgram, active],
  request: {
    body: takes(
      z.strictObject({
        ...asking,
        code_challenge: z
          .string("Falta code_challenge.")
          .regex(/^[\w-]{43}$/, "code_challenge tiene que ser un SHA-256.")
          .openapi({ example: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" }),
        scope: z.enum(["read", "write"], "El permiso tiene que ser read o write."),
      }),
    ),
  },
  responses: { 201: answers(z.object({ code: z.string() }), "El código que el programa cambia por una clave.") },
});
const giveConsent: RouteHandler<typeof giveConsentRoute, ApiEnv> = async (c) => {
  const { person, services } = c.var;
  const { client_id, redirect_uri, code_challenge, scope } = c.req.valid("json");
  const { name, ...client } = clientOf(c, client_id);
  refuseUnregistered(redirect_uri, { name, ...client });
  const code = newSecret();
  const now = services.clock.now();
  const row: ApiKeyRow = {
    ...newRow(now),
    userId: person.id,
    name,
    scope,
    start: apiKeyStart,
    // Hash of a secret that nobody has, until the code is exchanged for a token.
    tokenHash: hashToken(newSecret()),
    lastUsedAt: null,
    client: hashToken(client_id),
    codeHash: hashToken(code),
    challenge: code_challenge,
    redirectUri: redirect_uri,
    refreshHash: null,
    expiresAt: now + codeLasts,
  };
  await services.db.transaction().execute(async (trx) => {
    await refuseManyKeys(trx, person.id);
    await trx.insertInto("apiKeys").values(row).execute();
    const changes = { after: { name, scope, redirectUri: redirect_uri } };
    await recordAudit(trx, c, "create", "key", row.id, { ownerId: person.id, changes });
  });
  return c.json({ code }, 201, { "Cache-Control": "no-store" });
};

/** Programs that connect to /mcp by OAuth 2.1, so that nobody copies a key: each connection is a key of its person, for /mcp alone. */
export const connections = new OpenAPIHono<ApiEnv>({ defaultHook: answerInvalid })
  .openapi(registerRoute, register, (result, c) => {
    if (result.success) return undefined;
    const isAddress = result.error.issues.some(({ path }) => path[0] === "redirect_uris");
    const error = isAddress ? "invalid_redirect_uri" : "invalid_client_metadata";
    return c.json({ error, error_description: refusalOf(result.error).message }, 400);
  })
  .openapi(showConsentRoute, showConsent)
  .openapi(giveConsentRoute, giveConsent);
