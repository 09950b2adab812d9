import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import Provider, { type ClientMetadata } from "oidc-provider";
import { z } from "zod";
import { freePort } from "./server.ts";

/**
 * A server of tools that wants its users to sign in: `oidc-provider` says who they are, the official server of MCP answers. Anybody may
 * sign in there, with any password. `clients`: registered by hand; if any are given, dynamic registration is off.
 */
export async function startOauthToolServer(
  clients: ClientMetadata[] = [],
): Promise<{ url: string; issuer: string; stop(): Promise<void> }> {
  const [port, own] = [await freePort(), await freePort()];
  const issuer = `http://127.0.0.1:${port}`;
  const url = `http://127.0.0.1:${own}/mcp`;
  const provider = new Provider(issuer, {
    clients,
    features: {
      registration: { enabled: clients.length === 0 },
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => url,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({ scope: "herramientas", audience: url, accessTokenFormat: "opaque" as const }),
      },
    },
    scopes: ["openid", "offline_access", "herramientas"],
    issueRefreshToken: async () => true,
    rotateRefreshToken: true,
    // One that the client has to refresh at its next call.
    ttl: { AccessToken: 2, RefreshToken: 600, Grant: 600, Session: 600, Interaction: 600 },
  });
  const authority = provider.listen(port, "127.0.0.1");
  await once(authority, "listening");

  const who = async (request: IncomingMessage) => {
    const [, token = ""] = /^Bearer (.+)$/.exec(request.headers.authorization ?? "") ?? [];
    const found = token ? await provider.AccessToken.find(token) : undefined;
    return found && !found.isExpired ? found.accountId : undefined;
  };
  const server = createServer(async (request, response) => {
    if (request.url?.startsWith("/.well-known/oauth-protected-resource")) {
      const metadata = { resource: url, authorization_servers: [issuer], scopes_supported: ["herramientas"] };
      response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(metadata));
      return;
    }
    const person = await who(request);
    if (!person) {
      const metadata = `http://127.0.0.1:${own}/.well-known/oauth-protected-resource/mcp`;
      response.writeHead(401, { "WWW-Authenticate": `Bearer resource_metadata="${metadata}"` }).end();
      return;
    }
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const handler = createMcpHandler(() => {
      const mcp = new McpServer({ name: "cuentas", version: "1" });
      const described = {
        description: "Whose account it is",
        inputSchema: z.object({}),
        annotations: { readOnlyHint: true },
      };
      mcp.registerTool("quien", described, async () => ({
        content: [{ type: "text", text: `La cuenta de ${person}` }],
      }));
      return mcp;
    });
    const asked = new Request(url, {
      method: request.method ?? "GET",
      headers: Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]),
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    const answer = await handler.fetch(asked);
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()));
  });
  server.listen(own, "127.0.0.1");
  await once(server, "listening");
  return {
    url,
    issuer,
    async stop() {
      for (const one of [server, authority]) {
        one.closeAllConnections();
        one.close();
        await once(one, "close");
      }
    },
  };
}

/** Signs in as somebody would in a browser: follows the pages and fills in their forms, until it is sent back here. */
export async function signInThere(start: string, backTo: string, login = "ana"): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = new URL(start);
  let init: RequestInit = {};
  for (let turn = 0; turn < 20; turn++) {
    if (url.href.startsWith(backTo)) return url;
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await fetch(url, { ...init, redirect: "manual", headers: { ...init.headers, Cookie: cookie } });
    for (const set of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    const location = answer.headers.get("Location");
    if (location) {
      url = new URL(location, url);
      init = {};
      continue;
    }
    const page = await answer.text();
    const [, action] = /<form[^>]+action="([^"]+)"/.exec(page) ?? [];
    if (!action) throw new Error(`no form at ${url}: ${page.slice(0, 500)}`);
    const prompt = /name="prompt"[^>]*value="(\w+)"/.exec(page)?.[1] ?? "login";
    url = new URL(action.replaceAll("&amp;", "&"), url);
    init = {
      method: "POST",
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ prompt, login, password: "x" }).toString(),
    };
  }
  throw new Error("it never came back");
}
