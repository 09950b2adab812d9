import { enterByProxy, isAddress } from "../api/access/proxy-entry.server.ts";
import type { Services } from "../api/env.server.ts";
import type { TrustedProxy } from "../process/network/trusted-proxy.server.ts";
import type { WebSession } from "../web/session.server.ts";
import type { Visitor } from "./remote-api.server.ts";

/**
 * Makes the session of a page's request that of the person whom the trusted proxy names; one that it opened ends where it names nobody.
 * The header is there only where the proxy has sent it (`serve.ts`).
 */
export async function followProxy(
  services: Services,
  { header }: TrustedProxy,
  session: WebSession,
  { headers }: Request,
  { ip, userAgent }: Visitor,
): Promise<void> {
  const email = headers.get(header)?.trim() ?? "";
  if (!email) {
    if (session.proxied) session.forget();
    return;
  }
  if (session.signedIn && session.proxied === email.toLowerCase()) return;
  if (!isAddress(email)) {
    services.log.warn({ header }, "lo que dice el proxy no es un correo, y no entra nadie");
    return;
  }
  const tokens = await enterByProxy(services, email, { ip, userAgent });
  session.forget();
  session.keep(tokens);
  session.proxied = email.toLowerCase();
}
