import { once } from "node:events";
import { createServer } from "node:http";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import Provider from "oidc-provider";
import { freePort } from "./server.ts";

export type IdentityProvider = Awaited<ReturnType<typeof startIdentityProvider>>;
type Claims = Record<string, unknown>;

/**
 * A provider of identities: the official server of OpenID Connect for Node. Whoever signs in there as `x` is who `people.get("x")`
 * says; anybody may, with any password.
 */
export async function startIdentityProvider(
  redirects: string[],
  { host = "127.0.0.1", backchannel = "", leaving = [] as string[] } = {},
) {
  const port = await freePort();
  const issuer = `http://${host}:${port}`;
  const people = new Map<string, Claims>();
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: "tertulia",
        client_secret: "un secreto que solo saben los dos",
        redirect_uris: redirects,
        post_logout_redirect_uris: leaving,
        ...(backchannel && { backchannel_logout_uri: backchannel, backchannel_logout_session_required: true }),
      },
    ],
    claims: { openid: ["sub", "groups"], email: ["email", "email_verified"], profile: ["name"] },
    // Without it, claims are told at userinfo alone.
    conformIdTokenClaims: false,
    features: {
      devInteractions: { enabled: true },
      backchannelLogout: { enabled: true },
      rpInitiatedLogout: { enabled: true },
    },
    // Its own refuses to call this machine.
    fetch: (url, options) => fetch(url, { ...options, dispatcher: undefined } as RequestInit),
    findAccount: async (_context, sub) => {
      const claims = people.get(sub);
      return claims && { accountId: sub, claims: async () => ({ sub, ...claims }) };
    },
    ttl: { AccessToken: 600, Grant: 600, Session: 600, Interaction: 600, IdToken: 600, AuthorizationCode: 60 },
  });
  const server = provider.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    issuer,
    people,
    provider,
    clientId: "tertulia",
    clientSecret: "un secreto que solo saben los dos",
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Parts of a provider that its notices of leaving need: that it is found, and its keys. */
export async function startLogoutIssuer(clientId: string) {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const { publicKey, privateKey } = await generateKeyPair("RS256");
  const jwk = { ...(await exportJWK(publicKey)), kid: "uno", alg: "RS256", use: "sig" };
  const metadata = { issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` };
  const server = createServer((request, response) => {
    const body = request.url === "/jwks" ? { keys: [jwk] } : { ...metadata, jwks_uri: `${issuer}/jwks` };
    response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(body));
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    issuer,
    logoutToken: () =>
      new SignJWT({ sid: "una", events: { "http://schemas.openid.net/event/backchannel-logout": {} } })
        .setProtectedHeader({ alg: "RS256", kid: "uno" })
        .setIssuer(issuer)
        .setAudience(clientId)
        .setIssuedAt()
        .setJti("uno")
        .sign(privateKey),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
