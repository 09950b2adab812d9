const scopes = ["read", "write"];
const ofResource = "/.well-known/oauth-protected-resource";
const ofServer = "/.well-known/oauth-authorization-server";

// Programs look for the metadata of the site and of its /mcp (RFC 9728, 3.1).
const resources = new Map([
  [ofResource, ""],
  [`${ofResource}/mcp`, "/mcp"],
]);

/** Metadata by which a program finds out how to connect to /mcp (RFC 9728 and 8414); undefined for another path. */
export function answerMetadata({ method }: Request, { pathname, origin }: URL): Response | undefined {
  const metadata = metadataAt(pathname, origin);
  if (!metadata) return undefined;
  // Programs that are pages of other sites read the metadata before anybody is known.
  const headers = { "Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "MCP-Protocol-Version" };
  if (method === "OPTIONS") return new Response(null, { status: 204, headers });
  if (method === "GET" || method === "HEAD") return Response.json(metadata, { headers });
  return new Response(null, { status: 405, headers: { Allow: "GET, HEAD, OPTIONS" } });
}

function metadataAt(pathname: string, origin: string): object | undefined {
  const resource = resources.get(pathname);
  if (resource !== undefined) {
    return {
      resource: `${origin}${resource}`,
      resource_name: "Tertulia",
      authorization_servers: [origin],
      scopes_supported: scopes,
      bearer_methods_supported: ["header"],
    };
  }
  if (pathname !== ofServer) return undefined;
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/user/conectar`,
    token_endpoint: `${origin}/v1/auth/oauth/token`,
    registration_endpoint: `${origin}/v1/auth/oauth/register`,
    revocation_endpoint: `${origin}/v1/auth/oauth/revoke`,
    response_types_supported: ["code"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none"],
    revocation_endpoint_auth_methods_supported: ["none"],
    scopes_supported: scopes,
    authorization_response_iss_parameter_supported: true,
  };
}

/** Tells a program that has been refused for lack of a key where it gets one. */
export function challenge(response: Response, origin: string): Response {
  if (response.status !== 401) return response;
  const headers = new Headers(response.headers);
  headers.set("WWW-Authenticate", `Bearer resource_metadata="${origin}${ofResource}/mcp", scope="${scopes.join(" ")}"`);
  return new Response(response.body, { status: response.status, headers });
}
