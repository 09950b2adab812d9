import type { IncomingMessage } from "node:http";
import { socketPath } from "./realtime/sockets.server.ts";
import { WebSession } from "./session.server.ts";

type Settings = { trustProxy: boolean; publicUrl: string | undefined };

/** Whether an upgrade is for the realtime connection; in development others are Vite's. */
export const isSocket = ({ url = "" }: IncomingMessage) => new RegExp(`^(/v1)?${socketPath}/?(\\?|$)`).test(url);

/** The access token that an upgrade came with: a program's bearer, or the cookie of a page of this very site, empty where it has none. */
export async function tokenOf(
  request: IncomingMessage,
  settings: Settings,
  cookieKey: Buffer,
): Promise<string | undefined> {
  const { authorization, origin } = request.headers;
  const bearer = /^Bearer (\S+)$/i.exec(authorization ?? "")?.[1];
  if (bearer) return bearer;
  const site = originOf(request, settings);
  // Browsers say where an upgrade comes from, and send cookies whatever that is.
  if (origin !== site) return;
  const headers = { Cookie: request.headers.cookie ?? "" };
  return (await WebSession.open(new Request(site, { headers }), cookieKey)).access ?? "";
}

function originOf({ headers }: IncomingMessage, { trustProxy, publicUrl }: Settings): string {
  if (publicUrl) return new URL(publicUrl).origin;
  const said = (name: string) => (trustProxy ? [headers[name]].flat()[0]?.split(",")[0]?.trim() : undefined);
  return `${said("x-forwarded-proto") ?? "http"}://${said("x-forwarded-host") ?? headers.host}`;
}
