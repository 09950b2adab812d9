import type { IncomingMessage } from "node:http";

const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Why a request is refused before it reaches the application: status and sentence. */
export type Malformed = { status: 400 | 405 | 501; sentence: string };

/**
 * Checks the request line and rewrites its target in origin form (RFC 9112 §3.2). A target that is no valid URL is refused here,
 * because the router would log it unmasked, tokens included.
 */
export function refuseMalformed(request: IncomingMessage): Malformed | undefined {
  const { method = "", headers } = request;
  if (!methods.has(method)) return { status: 501, sentence: `El método ${method} no se admite.` };
  if (request.url === "*") return { status: 405, sentence: "OPTIONS se pide de una dirección." };
  const target = absolute(request.url ?? "");
  if (target) {
    request.url = target.pathname + target.search;
    headers.host = target.host;
  }
  if (!request.url?.startsWith("/")) return { status: 400, sentence: "La dirección no es válida." };
  // Node keeps the first of several Host headers, a proxy in front perhaps the last (RFC 9112 §3.2).
  if (headers.host === undefined || !isHost(headers.host) || hostsIn(request) > 1) {
    return { status: 400, sentence: "La cabecera Host no es válida." };
  }
  if (!decodes(request.url)) return { status: 400, sentence: "La dirección no es válida." };
}

const hostsIn = ({ rawHeaders }: IncomingMessage): number =>
  rawHeaders.filter((name, place) => place % 2 === 0 && name.toLowerCase() === "host").length;

/** A target in absolute form, as clients send it to proxies, and servers have to take it (RFC 9112 §3.2.2). */
function absolute(target: string): URL | null {
  return /^https?:\/\//i.test(target) ? URL.parse(target) : null;
}

function isHost(host: string): boolean {
  // The URL parser would accept user names, paths and white space in a host.
  return !/[\s@/\\?#]/.test(host) && URL.canParse(`http://${host}/`);
}

function decodes(target: string): boolean {
  try {
    decodeURIComponent(target.replace(/\?.*$/s, ""));
    return URL.canParse(`http://host${target}`);
  } catch {
    return false;
  }
}
