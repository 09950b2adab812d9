import { type IncomingMessage, request as overHttp } from "node:http";
import { request as overHttps } from "node:https";
import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { faultOf } from "../../process/fault.ts";
import { AddressNotPublic, isPublicHost, lookupPublic } from "../../process/network/public-addresses.server.ts";
import { ToolRefused } from "../tool.server.ts";

const redirectsAtMost = 5;
const browserLike = "Mozilla/5.0 (compatible; Tertulia; +lector de páginas)";

/** Final address of a page, its type, the encoding that the server names and the bytes. */
export type Fetched = { url: string; mediaType: string; charset: string | undefined; bytes: Buffer };

/**
 * Fetches a page that anybody may have named: only from public addresses, whatever its name resolves to at each connection and
 * wherever it redirects to. Bounded in time by `signal` and in length; what was compressed is counted unpacked. Throws ToolRefused.
 */
export async function fetchPublic(
  address: string,
  { signal, most }: { signal: AbortSignal; most: number },
): Promise<Fetched> {
  let url = webAddress(address);
  for (let turn = 0; turn <= redirectsAtMost; turn++) {
    const answer = await ask(url, signal);
    const { statusCode: status = 0, headers } = answer;
    if (status >= 300 && status < 400 && headers.location) {
      answer.destroy();
      url = webAddress(headers.location, url);
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
    return { url: url.href, mediaType, charset, bytes: await readUpTo(unpacked(answer), most) };
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

async function ask(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const open = url.protocol === "https:" ? overHttps : overHttp;
  const request = open(url, {
    // A connection of its own: a kept one might lead to an address that the name had before.
    agent: false,
    lookup: lookupPublic,
    signal,
    headers: {
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

function unpacked(answer: IncomingMessage): Readable {
  const how = answer.headers["content-encoding"]?.trim().toLowerCase();
  const unpack =
    how === "gzip" || how === "x-gzip"
      ? createGunzip()
      : how === "deflate"
        ? createInflate()
        : how === "br"
          ? createBrotliDecompress()
          : undefined;
  // The reader of the stream gets its errors.
  return unpack ? pipeline(answer, unpack, () => {}) : answer;
}

/** The beginning of a body; the rest of a longer one is not read. */
async function readUpTo(body: Readable, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length >= most) break;
    }
  } finally {
    body.destroy();
  }
  return Buffer.concat(chunks).subarray(0, most);
}
