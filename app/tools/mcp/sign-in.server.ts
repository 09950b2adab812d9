import { randomBytes } from "node:crypto";
import {
  type AuthProvider,
  auth,
  extractWWWAuthenticateParams,
  type OAuthClientProvider,
  OAuthError,
  OAuthErrorCode,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { sameSecret } from "../../process/crypto.server.ts";
import { recordOf } from "../../process/text/json.ts";
import { ToolRefused } from "../tool.server.ts";
import { boundedFetch } from "./bounded-fetch.server.ts";
import type { McpServer, ToolAccess } from "./server.ts";
import { SignInCalls } from "./sign-in-calls.server.ts";

/** State of a sign-in (OAuth) at a server of tools, which the client's library asks for and keeps. */
class SignIn implements OAuthClientProvider {
  /** Address that the administrator has to visit. */
  destination: URL | undefined;
  protected readonly server: McpServer;
  /** Values from the beginning of the sign-in; the library reads them synchronously. */
  readonly #redirect: string | undefined;
  readonly #state: string | undefined;
  constructor(server: McpServer, { redirect, state }: ToolAccess) {
    this.server = server;
    this.#redirect = redirect;
    this.#state = state;
  }

  get redirectUrl(): string | undefined {
    return this.#redirect;
  }

  get clientMetadata() {
    return {
      client_name: "Tertulia",
      redirect_uris: this.#redirect ? [this.#redirect] : [],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    };
  }

  state(): string {
    return this.#state ?? "";
  }

  async clientInformation() {
    const { own, client } = await this.server.access.read();
    return own ?? client;
  }

  async saveClientInformation(client: ToolAccess["client"]): Promise<void> {
    await this.#keep({ client });
  }

  async tokens() {
    return (await this.server.access.read()).tokens;
  }

  async saveTokens(tokens: ToolAccess["tokens"]): Promise<void> {
    await this.#keep({ tokens });
  }

  redirectToAuthorization(url: URL): void {
    this.destination = url;
  }

  async saveCodeVerifier(verifier: string): Promise<void> {
    await this.#keep({ verifier });
  }

  async codeVerifier(): Promise<string> {
    return (await this.server.access.read()).verifier ?? "";
  }

  /** Issuer that the server has named for signing in: the answer must be from the same. */
  async saveDiscoveryState(discovery: ToolAccess["discovery"]): Promise<void> {
    await this.#keep({ discovery });
  }

  async discoveryState() {
    return (await this.server.access.read()).discovery;
  }

  async #keep(more: ToolAccess): Promise<void> {
    await this.server.access.write({ ...(await this.server.access.read()), ...more });
  }
}

/** New tokens for old ones. Nobody is there to visit an address, and somebody who is signing in at the moment goes on. */
class Renewal extends SignIn {
  /** The access token that was read last. */
  #used: string | undefined;

  override redirectToAuthorization(): void {}
  override async saveCodeVerifier(): Promise<void> {}

  override async tokens() {
    const tokens = await super.tokens();
    this.#used = tokens?.access_token;
    return tokens;
  }

  /** Forgets what the server does not take any more; new tokens that another process has got meanwhile stay. */
  async invalidateCredentials(what: "all" | "client" | "tokens" | "verifier" | "discovery"): Promise<void> {
    const { client, tokens, ...rest } = await this.server.access.read();
    const isOther = tokens && "access_token" in tokens && tokens.access_token !== this.#used;
    const keepsTokens = tokens && (isOther || (what !== "all" && what !== "tokens"));
    const keepsClient = client && what !== "all" && what !== "client";
    await this.server.access.write({ ...rest, ...(keepsClient && { client }), ...(keepsTokens && { tokens }) });
  }
}

// A refresh token is valid once: when several calls are refused at the same moment, one of them gets new tokens for all.
const refreshing = new Map<string, Promise<void>>();

/**
 * The tokens of a sign-in that an admin has made, refreshed when they are refused. Nobody is there to sign in anew: a server that
 * wants that refuses the call (UnauthorizedError).
 */
export function signedInAt(server: McpServer, serverUrl: string): AuthProvider {
  const tokens = async () => (await server.access.read()).tokens;
  let used: string | undefined;
  const refresh = async () => {
    const now = await tokens();
    if (now && now.access_token !== used) return;
    if (!now?.refresh_token) throw new UnauthorizedError();
    const calls = new SignInCalls();
    const renewal = new Renewal(server, await server.access.read());
    const outcome = await auth(renewal, { serverUrl, fetchFn: calls.fetch }).catch(async (error: unknown) => {
      if (!(error instanceof OAuthError)) throw error;
      // GitHub's word is `bad_refresh_token`.
      if (/token|grant/.test(error.code)) await renewal.invalidateCredentials("tokens");
      return undefined;
    });
    if (outcome === "AUTHORIZED") return;
    if (calls.failed !== undefined) {
      const when = "Reinténtalo dentro de un momento.";
      throw new ToolRefused(`«${server.name}» no ha podido renovar el permiso (${calls.failed}). ${when}`);
    }
    throw new UnauthorizedError();
  };
  return {
    async token() {
      used = (await tokens())?.access_token;
      return used;
    },
    async onUnauthorized() {
      const underway = refreshing.get(server.id) ?? refresh().finally(() => refreshing.delete(server.id));
      refreshing.set(server.id, underway);
      await underway;
    },
  };
}

/**
 * Begins signing in at a server of tools. Returns the address for the admin, who comes back to `redirect`; undefined if the server wants no
 * sign-in.
 */
export async function beginSignIn(server: McpServer, redirect: string): Promise<URL | undefined> {
  const serverUrl = addressOf(server);
  const before = await server.access.read();
  // A client that was registered for another address of this installation would be refused.
  const client = before.redirect === redirect ? before.client : undefined;
  const state = randomBytes(18).toString("base64url");
  // The tokens of before stay until there are new ones.
  const access = {
    ...(before.own && { own: before.own }),
    ...(before.tokens && { tokens: before.tokens }),
    ...(client && { client }),
    state,
    redirect,
  };
  await server.access.write(access);
  const provider = new SignIn(server, access);
  const challenge = await challengeOf(serverUrl);
  await auth(provider, { serverUrl, fetchFn: new SignInCalls().fetch, forceReauthorization: true, ...challenge });
  return provider.destination;
}

// In ms.
const challengedWithin = 10_000;
const hello = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "Tertulia", version: "1" } },
};

/** Place of the description of signing in, and the scope, as a server names them that refuses a call without a token. */
async function challengeOf(serverUrl: string): Promise<{ resourceMetadataUrl?: URL; scope?: string }> {
  const answer = await boundedFetch(serverUrl, {
    method: "POST",
    headers: { Accept: "application/json, text/event-stream", "Content-Type": "application/json" },
    body: JSON.stringify(hello),
    signal: AbortSignal.timeout(challengedWithin),
  }).catch(() => undefined); // The sign-in that follows tells why a server does not answer.
  await answer?.body?.cancel();
  if (answer?.status !== 401) return {};
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(answer);
  return { ...(resourceMetadataUrl && { resourceMetadataUrl }), ...(scope && { scope }) };
}

/** Ends signing in, with the parameters that the admin has brought back in the address. Throws ToolRefused. */
export async function endSignIn(server: McpServer, brought: URLSearchParams): Promise<void> {
  const before = await server.access.read();
  if (!before.state || !sameSecret(before.state, brought.get("state") ?? "")) {
    throw new ToolRefused("Este inicio de sesión no se empezó aquí, o ya se ha acabado. Empieza otra vez.");
  }
  const code = brought.get("code");
  if (!code) throw new ToolRefused(`«${server.name}» no ha dado permiso.`);
  const issuer = recordOf(recordOf(before.discovery)?.authorizationServerMetadata)?.issuer;
  const iss = brought.get("iss") === `${issuer}/` ? String(issuer) : brought.get("iss");
  await auth(new SignIn(server, before), {
    serverUrl: addressOf(server),
    authorizationCode: code,
    fetchFn: new SignInCalls().fetch,
    ...(iss !== null && { iss }),
  }).catch(async (error: unknown) => {
    // The next sign-in registers another client.
    const { client: _client, ...rest } = await server.access.read();
    if (error instanceof OAuthError && error.code === OAuthErrorCode.InvalidClient) await server.access.write(rest);
    throw error;
  });
  const { state: _state, verifier: _verifier, ...access } = await server.access.read();
  await server.access.write(access);
}

function addressOf({ target }: McpServer): string {
  if (!("url" in target)) throw new ToolRefused("Un programa de esta máquina no pide iniciar sesión.");
  return target.url;
}
