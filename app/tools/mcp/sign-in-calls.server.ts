import { objectOf, recordOf } from "../../process/text/json.ts";
import { boundedFetch } from "./bounded-fetch.server.ts";

type Fields = Record<string, unknown>;

// Ways in which a client says who it is to a server that wants it to, the simplest one first.
const withSecret = ["client_secret_post", "client_secret_basic"];

/** Calls to an authorization server, whose answers are put right before the client's library reads them. */
export class SignInCalls {
  /** Status of a server that can't answer now; undefined as long as all can. */
  failed: number | undefined;
  /** Ways in which the server lets clients say who they are; empty as long as it has not told. */
  #methods: unknown[] = [];

  readonly fetch: typeof fetch = async (input, init) => {
    const answer = await boundedFetch(input, init && this.#registered(init));
    if (init?.method === "POST" && (answer.status >= 500 || answer.status === 429)) this.failed = answer.status;
    if (!answer.ok || !answer.body) return answer;
    const { status, headers } = answer;
    const text = await answer.text();
    const said = text.trim() ? (objectOf(text) ?? tokensIn(text)) : undefined;
    if (!said) return new Response(text, { status, headers });
    if (Array.isArray(said.token_endpoint_auth_methods_supported)) {
      this.#methods = said.token_endpoint_auth_methods_supported;
    }
    const address = new URL(input instanceof Request ? input.url : input);
    return new Response(JSON.stringify(repaired(said, address)), { status, headers });
  };

  /** A request that registers a client without a secret, changed for a server that knows only clients with one. */
  #registered(init: RequestInit): RequestInit {
    if (typeof init.body !== "string" || this.#methods.length === 0 || this.#methods.includes("none")) return init;
    const client = objectOf(init.body);
    const method = withSecret.find((one) => this.#methods.includes(one));
    if (!client?.redirect_uris || client.token_endpoint_auth_method !== "none" || !method) return init;
    return { ...init, body: JSON.stringify({ ...client, token_endpoint_auth_method: method }) };
  }
}

/**
 * An answer in the words of the protocol: without nulls, Slack's token of the person as the token, its type where it is missing, an
 * issuer without the slash that its address has not, and metadata with the required fields that servers leave out.
 */
function repaired(given: Fields, address: URL): Fields {
  const own = given.access_token ? {} : (recordOf(given.authed_user) ?? {});
  const all: Fields = { ...given, ...own };
  const said = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null));
  if (said.access_token && (own.access_token || !said.token_type)) said.token_type = "Bearer";
  const issuer = address.href.replace(/\/\.well-known\/(?:oauth-authorization-server|openid-configuration)/, "");
  if (issuer !== address.href && said.issuer === `${issuer}/`) said.issuer = issuer;
  return said.authorization_endpoint && said.token_endpoint ? { ...usualMetadata(issuer), ...said } : said;
}

/** Tokens in the form of a query, as older servers of OAuth answer; undefined for any other text. */
function tokensIn(text: string): Fields | undefined {
  const { expires_in, ...said } = Object.fromEntries(new URLSearchParams(text));
  return said.access_token ? { ...said, ...(expires_in && { expires_in: Number(expires_in) }) } : undefined;
}

/** Required fields of metadata that nothing here depends on. */
const usualMetadata = (issuer: string): Fields => ({
  response_types_supported: ["code"],
  subject_types_supported: ["public"],
  id_token_signing_alg_values_supported: ["RS256"],
  jwks_uri: `${issuer.replace(/\/$/, "")}/.well-known/jwks.json`,
});
