import { endByProxy, enterByProxy, isAddress } from "../api/access/proxy-entry.server.ts";
import type { Services } from "../api/env.server.ts";
import { headerOf } from "../http/header.server.ts";
import type { TrustedProxy } from "../process/network/trusted-proxy.server.ts";
import type { WebSession } from "../web/session.server.ts";
import type { Visitor } from "./remote-api.server.ts";

/**
 * Gives a page's request the session of the person that the trusted proxy names. A session that the proxy opened ends when the proxy names
 * nobody, or somebody else. Only the proxy can have sent the header (`serve.ts`).
 */
export async function followProxy(
  services: Services,
  { header }: TrustedProxy,
  session: WebSession,
  request: Request,
  { ip, userAgent }: Visitor,
): Promise<void> {
  const email = decoded(headerOf(request, header)).trim();
  const isNamed = isAddress(email);
  if (isNamed && session.signedIn && session.proxied === email.toLowerCase()) return;
  if (session.proxied && session.refresh) await endByProxy(services, session.refresh);
  if (session.proxied) session.forget();
  if (email && !isNamed) services.log.warn({ header }, "lo que dice el proxy no es un correo, y no entra nadie");
  // Programs and robots without cookies would open one session after another.
  const isPage = headerOf(request, "Accept").includes("text/html");
  if (!isNamed || !isPage) return;
  const tokens = await enterByProxy(services, email, { ip, userAgent });
  session.forget();
  session.keep(tokens);
  session.proxied = email.toLowerCase();
}

/** A value as its proxy wrote it: Node reads UTF-8 in headers byte by byte. */
function decoded(value: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(value, "latin1"));
  } catch {
    return value;
  }
}
