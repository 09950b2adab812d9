import { type IncomingMessage, request as overHttp } from "node:http";
import { request as overHttps } from "node:https";
import { pipeline, Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from "node:zlib";
import { faultOf } from "../../process/fault.ts";
import { AddressNotPublic, isPublicHost, lookupPublic } from "../../process/network/public-addresses.server.ts";
import { ToolRefused } from "../tool.server.ts";

const redirectsAtMost = 10;
// In bytes: portals of administrations send long cookies and policies.
const headersAtMost = 64 * 1024;
const browserLike = "Mozilla/5.0 (compatible; Tertulia; +lector de páginas)";

/** Final address of a page, its type, the encoding that the server names and the bytes. */
export type Fetched = { url: string; mediaType: string; charset: string | undefined; bytes: Buffer };

/**
 * Fetches a page that anybody may have named: only from public addresses, whatever its name resolves to at each connection and
 * wherever it redirects to. Bounded in time by `signal` and in length by `most`, in bytes, for each type; what was compressed is counted
 * unpacked. Throws ToolRefused.
 */
export async function fetchPublic(
  address: string,
  { signal, most }: { signal: AbortSignal; most: (mediaType: string) => number },
): Promise<Fetched> {
  let url = webAddress(address);
  // Cookies by host, which some sites want back at once.
  const cookies = new Map<string, Map<string, string>>();
  let refreshed = false;
  for (let turn = 0; turn <= redirectsAtMost; turn++) {
    const answer = await ask(url, signal, cookies.get(url.host));
    keepCookies(cookies, url.host, answer.headers["set-cookie"] ?? []);
    const { statusCode: status = 0, headers } = answer;
    if (status >= 300 && status < 400 && headers.location) {
      answer.destroy();
      url = webAddress(asUtf8(headers.location), url);
      continue;
    }
    if (status !== 200) {
      answer.destroy();
      throw new ToolRefused(
        status === 404 ? "Esa página no existe (404)." : `El servidor de esa página ha contestado ${status}.`,
      );
    }
    const type = headers["content-type"] ?? "";
    const mediaType = type.split(";", 1)[0]?.trim().toLowerCase() ?? "";
    const [, charset] = /;\s*charset="?([\w.:-]+)/i.exec(type) ?? [];
    const bytes = await readUpTo(await unpacked(answer), most(mediaType), signal);
    const next = refreshed || !/html/.test(mediaType) ? undefined : refreshIn(bytes);
    if (next === undefined) return { url: url.href, mediaType, charset, bytes };
    refreshed = true;
    url = webAddress(next, url);
  }
  throw new ToolRefused("Esa página lleva de una dirección a otra sin acabar nunca.");
}

/** An address of the web, perhaps relative to another. Throws ToolRefused where it isn't one or its host is not public. */
function webAddress(address: string, base?: URL): URL {
  const url = URL.parse(address, base);
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new ToolRefused("Solo se leen páginas cuya dirección empieza por http:// o https://.");
  }
  if (url.username || url.password) throw new ToolRefused("La dirección lleva un usuario o una contraseña.");
  if (!isPublicHost(url)) throw notPublic();
  return url;
}

const notPublic = () => new ToolRefused("Esa dirección no es pública: solo se leen páginas de internet.");

// In cookies of one host, and in characters of each.
const cookiesAtMost = 50;
const cookieAtMost = 4_096;

function keepCookies(cookies: Map<string, Map<string, string>>, host: string, given: string[]): void {
  const own = cookies.get(host) ?? new Map<string, string>();
  cookies.set(host, own);
  for (const one of given.slice(0, cookiesAtMost)) {
    const [, name, value] = /^([^=;\s]+)=([^;]*)/.exec(one.slice(0, cookieAtMost)) ?? [];
    if (name && value !== undefined && own.size < cookiesAtMost) own.set(name, value);
  }
}

/** A header with letters beyond ASCII, which servers send in UTF-8 and Node reads as Latin-1. */
function asUtf8(header: string): string {
  const read = Buffer.from(header, "latin1").toString("utf8");
  return read.includes("\ufffd") ? header : read;
}

/** The address that a page leads to by itself, within seconds; undefined for pages that stay. */
function refreshIn(bytes: Buffer): string | undefined {
  const head = bytes.toString("latin1", 0, 4_000);
  const tag = head.match(/<meta [^<>]*>/gi)?.find((one) => /http-equiv ?= ?["']?refresh/i.test(one)) ?? "";
  const [, content = ""] = tag.split(/content ?= ?["']?/i);
  const [, address = ""] = content.split(/url ?= ?['"]?/i);
  const [whole = ""] = address.split(/["'<>\s]/, 1);
  return Number.parseInt(content, 10) <= 5 && whole ? whole.replaceAll("&amp;", "&") : undefined;
}

async function ask(url: URL, signal: AbortSignal, cookies?: Map<string, string>): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const open = url.protocol === "https:" ? overHttps : overHttp;
  const request = open(url, {
    // A connection of its own: a kept one might lead to an address that the name had before.
    agent: false,
    lookup: lookupPublic,
    signal,
    maxHeaderSize: headersAtMost,
    headers: {
      ...(cookies?.size && { Cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") }),
      "User-Agent": browserLike,
      Accept: "text/html,application/xhtml+xml,text/plain,application/pdf;q=0.5,*/*;q=0.1",
      "Accept-Language": "es,en;q=0.5",
      "Accept-Encoding": "gzip, deflate, br",
    },
  });
  request.on("response", resolve);
  request.on("error", reject);
  // After a 101 that nobody asked for, Node emits only this event.
  request.on("close", () => reject(new Error("the connection was closed without an answer")));
  request.end();
  try {
    return await promise;
  } catch (error) {
    if (error instanceof AddressNotPublic) throw notPublic();
    if (signal.aborted) throw error;
    throw new ToolRefused(reasons.get(faultOf(error).code) ?? "No se ha podido llegar a esa página.", {
      cause: error,
    });
  }
}

const reasons = new Map([
  ["ENOTFOUND", "Ese sitio no existe."],
  ["EAI_AGAIN", "No se ha podido averiguar dónde está ese sitio."],
  ["ECONNREFUSED", "El servidor de esa página no acepta conexiones."],
  ["ETIMEDOUT", "El servidor de esa página no contesta."],
  ["CERT_HAS_EXPIRED", "El certificado de ese sitio ha caducado."],
]);

// The reader of a pipeline's last stream gets the errors of all.
const leftToReader = () => {};

/** The decompressed body, by the encodings that the server names: the last one was applied last. */
async function unpacked(answer: IncomingMessage): Promise<Readable> {
  const hows = (answer.headers["content-encoding"] ?? "").toLowerCase().split(",");
  let body: Readable = answer;
  for (const how of hows.map((one) => one.trim()).reverse()) {
    if (how === "deflate") {
      // The name stands for zlib's format, and some servers send the bare one.
      const [first, whole] = await begun(body);
      const isZlib = first !== undefined && (first & 0x0f) === 8;
      body = pipeline(whole, isZlib ? createInflate() : createInflateRaw(), leftToReader);
      continue;
    }
    const unpack = unpackers.get(how);
    if (unpack) body = pipeline(body, unpack(), leftToReader);
  }
  return body;
}

const unpackers = new Map<string, () => Transform>([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["br", createBrotliDecompress],
  ["zstd", createZstdDecompress],
]);

/** The first byte of a body, and the body from its beginning. */
async function begun(body: Readable): Promise<[first: number | undefined, whole: Readable]> {
  const pieces: AsyncIterator<Buffer> = body[Symbol.asyncIterator]();
  const first = await pieces.next();
  async function* whole() {
    try {
      for (let piece = first; !piece.done; piece = await pieces.next()) yield piece.value;
    } finally {
      await pieces.return?.();
    }
  }
  return [first.done ? undefined : first.value[0], Readable.from(whole())];
}

/** The beginning of a body; the rest of a longer one is not read. */
async function readUpTo(body: Readable, most: number, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= most) break;
    }
  } catch (error) {
    signal.throwIfAborted();
    // A page without its end is still a page: servers close early, and leave out the end of what they compress.
    if (length === 0) throw new ToolRefused("Lo que envía el servidor de esa página está dañado.", { cause: error });
  } finally {
    body.destroy();
  }
  return Buffer.concat(chunks).subarray(0, most);
}
