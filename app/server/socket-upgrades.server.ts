import type { IncomingMessage } from "node:http";
import { socketPath } from "../realtime/sockets.server.ts";
import { WebSession } from "../web/session.server.ts";

type Settings = { trustProxy: boolean; publicUrl: string | undefined };

/** Whether an upgrade is for the realtime connection; in development others are Vite's. */
export const isSocket = ({ url = "" }: IncomingMessage) => new RegExp(`^(/v1)?${socketPath}/?(\\?|$)`).test(url);

/**
 * The access token of an upgrade: a bearer token, or that of the session cookie if the Origin is this site; undefined for
 * other sites, empty for visitors.
 */
export async function tokenOf(
  request: IncomingMessage,
  settings: Settings,
  cookieKey: Buffer,
): Promise<string | undefined> {
  const { authorization, origin } = request.headers;
  const bearer = authorization?.match(/^Bearer (\S+)$/i)?.[1];
  if (bearer) return bearer;
  const site = originOf(request, settings);
  // Browsers send cookies with upgrades from any site, but always with an Origin.
  if (origin !== site) return;
  const { cookie } = request.headers;
  const headers = new Headers(cookie ? { Cookie: cookie } : undefined);
  return (await WebSession.open(new Request(site, { headers }), cookieKey)).access ?? "";
}

function originOf({ headers }: IncomingMessage, { trustProxy, publicUrl }: Settings): string {
  if (publicUrl) return new URL(publicUrl).origin;
  const said = (name: string) => (trustProxy ? [headers[name]].flat()[0]?.split(",")[0]?.trim() : undefined);
  // Proxies write the protocol of the upgrade itself, in capitals, and a port that browsers leave out.
  const secure = /^(?:https|wss)$/i.test(said("x-forwarded-proto") ?? "");
  const site = `http${secure ? "s" : ""}://${said("x-forwarded-host") ?? headers.host}`;
  return URL.parse(site)?.origin ?? site;
}
