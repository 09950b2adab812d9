import { hc } from "hono/client";
import type { Api } from "./api.server.ts";

/** Where a person's tokens are kept between requests: the web side's session cookie. */
export type TokenStore = {
  access: string | undefined;
  refresh: string | undefined;
  keep(tokens: { access: string; refresh: string }): void;
  forget(): void;
};

type Send = (request: Request) => Response | Promise<Response>;

/**
 * The typed client of the API for one request of one person. `send` calls it, in process or over HTTP.
 * A call answered 401 is refreshed once, whatever the number of parallel calls, and replayed (product.md §6).
 */
export function createClient(send: Send, tokens: TokenStore) {
  let refreshing: Promise<boolean> | undefined;

  async function call(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
    const path = new URL(String(input)).pathname;
    const attempt = () => {
      const headers = new Headers(init?.headers);
      if (tokens.access) headers.set("Authorization", `Bearer ${tokens.access}`);
      return send(new Request(input, { ...init, headers }));
    };
    const opensSession = ["/auth/signin", "/auth/signin/code", "/auth/signup"].includes(path);
    const response = await attempt();
    if (opensSession && response.ok) await keepTokens(response.clone());
    if (response.status !== 401 || opensSession || !tokens.refresh) return response;
    refreshing ??= refresh();
    return (await refreshing) ? attempt() : response;
  }

  async function refresh(): Promise<boolean> {
    const headers = { Cookie: `refresh=${tokens.refresh}` };
    const response = await send(new Request("http://api/auth/refresh", { method: "POST", headers }));
    if (response.ok) await keepTokens(response);
    else if (response.status === 401) tokens.forget();
    return response.ok;
  }

  async function keepTokens(response: Response): Promise<void> {
    const refresh = refreshCookie(response);
    const access = await response.text();
    if (refresh) tokens.keep({ access, refresh });
  }

  return hc<Api>("http://api", { fetch: call });
}

export type Client = ReturnType<typeof createClient>;

function refreshCookie(response: Response): string | undefined {
  for (const cookie of response.headers.getSetCookie()) {
    const match = /^refresh=([^;]+)/.exec(cookie);
    if (match?.[1]) return decodeURIComponent(match[1]);
  }
}
