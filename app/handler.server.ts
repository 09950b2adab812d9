import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { constants } from "node:zlib";
import * as build from "virtual:react-router/server-build";
import { compressResponse } from "@remix-run/response/compress";
import { createRequestHandler, RouterContextProvider } from "react-router";
import { createApi } from "./api/api.server.ts";
import { createClient } from "./api/client.server.ts";
import { readConfig } from "./config.server.ts";
import { apiContext, ipContext, logContext, nonceContext, sessionContext } from "./context.ts";
import { addHeaders } from "./headers.server.ts";
import { createLog, pathInLog } from "./log.server.ts";
import { Sockets } from "./realtime/sockets.server.ts";
import { remoteApi, type Visitor } from "./remote-api.server.ts";
import { isRobot } from "./robots.server.ts";
import { deriveKey } from "./secrets.server.ts";
import { type Opened, openServices } from "./services.server.ts";
import { WebSession } from "./session.server.ts";
import { tunnel } from "./tunnel.server.ts";
import { isSocket, tokenOf } from "./upgrades.server.ts";

export type Handle = (request: Request, client: { ip: string }) => Promise<Response>;

/** Opens what this process needs, by the environment. Throws ConfigError for a wrong setting. */
export async function open(): Promise<Opened> {
  const config = readConfig();
  if (!config.apiBaseUrl) return openServices(config);
  return { services: undefined, config, log: createLog(config.logLevel), close: async () => {} };
}

/** Request → Response: /v1 to the API, everything else to the pages, each with a context of its own. */
export function createHandler({ services, config, log }: Opened): Handle {
  const api = services && createApi(services);
  const remote = remoteApi(config.apiBaseUrl ?? "", log);
  const send = (call: Request, visitor: Visitor) => {
    if (!api) return remote(call, visitor);
    call.headers.set("User-Agent", visitor.userAgent);
    return api.fetch(call, { ip: visitor.ip });
  };
  const cookieKey = deriveKey(config.secret, "cookie");
  const pages = createRequestHandler(build, import.meta.env.MODE);

  async function answerPage(request: Request, ip: string): Promise<Response> {
    const session = await WebSession.open(request, cookieKey);
    const nonce = randomBytes(12).toString("base64url");
    const visitor = { ip, userAgent: request.headers.get("User-Agent") ?? "", signal: request.signal };
    const { client, answered } = createClient((call) => send(call, visitor), session);
    const context = new RouterContextProvider();
    context.set(apiContext, client);
    context.set(sessionContext, session);
    context.set(logContext, log);
    context.set(nonceContext, nonce);
    context.set(ipContext, ip);
    const answer = await pages(request, context).finally(answered);
    const response = answer.status >= 400 ? hideFromBots(sayInSpanish(answer), request) : answer;
    const cookie = await session.commit();
    if (cookie) response.headers.append("Set-Cookie", cookie);
    return addHeaders(response, request, nonce);
  }

  /** Search engines and link previews get the status of an error, and no page to keep; the log has a line (seed §2). */
  function hideFromBots(response: Response, request: Request): Response {
    if (!isRobot(request.headers.get("User-Agent"))) return response;
    log.info(
      { status: response.status, path: pathInLog(new URL(request.url).pathname) },
      "página de error no mostrada a un robot",
    );
    return new Response(null, { status: response.status });
  }

  return async (request, { ip }) => {
    const url = new URL(request.url);
    if (url.pathname === "/health") return new Response("ok");
    if (url.pathname === "/ready") return ready(services, config);
    if (url.pathname === "/v1" || url.pathname.startsWith("/v1/")) {
      const response = api ? await api.fetch(request, { ip }) : new Response(null, { status: 404 });
      return addHeaders(response, request, "");
    }
    if (/^\/assets\/.*\.js$/.test(url.pathname)) return staleModule();
    if (isForeignForm(request, url))
      return addHeaders(
        plainPage(
          403,
          "Este formulario venía de otro sitio y no se ha enviado.",
          "Si administras este servidor y hay un proxy delante, le falta TRUST_PROXY=1 o PUBLIC_URL.",
        ),
        request,
        "",
      );
    const response = await answerPage(request, ip);
    // The library reads a source as fast as it can: a download would stand in memory, and gain nothing.
    if (response.headers.has("Content-Disposition")) return response;
    return compressResponse(response, request, compression(response));
  };
}

/** The realtime connections of open pages (product.md §9). */
export function createSockets({ services, config, log }: Opened) {
  const cookieKey = deriveKey(config.secret, "cookie");
  const token = (request: IncomingMessage) => tokenOf(request, config, cookieKey);
  const sockets = services && new Sockets(services, token);
  const handOn = async (request: IncomingMessage, socket: Duplex, head: Buffer) =>
    tunnel(request, socket, head, config.apiBaseUrl ?? "", await token(request));
  return {
    /** Takes an upgrade of the HTTP server, if it is one of these; answers whether it is. */
    take(request: IncomingMessage, socket: Duplex, head: Buffer): boolean {
      if (!isSocket(request)) return false;
      // From here on nobody else listens, and a reset would end the process.
      socket.on("error", () => socket.destroy());
      (sockets ? sockets.take(request, socket, head) : handOn(request, socket, head)).catch((error: Error) => {
        log.error({ err: error }, "no se pudo abrir una conexión");
        socket.destroy();
      });
      return true;
    },
    close: async () => sockets?.close(),
  };
}

/** A form of another site. Text browsers send no Origin; their forms are told by the token alone (`form.server.ts`). */
function isForeignForm(request: Request, url: URL): boolean {
  const origin = request.headers.get("Origin");
  return request.method !== "GET" && request.method !== "HEAD" && origin !== null && origin !== url.origin;
}

/** A module of an older build: in its place comes one that loads the page anew (seed §4). */
const staleModule = () =>
  new Response(null, { status: 302, headers: { Location: "/stale.js", "Cache-Control": "no-store" } });

/** Where not even the error page could be rendered, React Router answers a line of English. */
function sayInSpanish(response: Response): Response {
  const isPlain = response.headers.get("Content-Type")?.startsWith("text/plain");
  return response.status >= 400 && isPlain
    ? plainPage(response.status, "Algo ha fallado. Lo que ya estaba guardado sigue guardado.")
    : response;
}

function plainPage(status: number, sentence: string, advice = ""): Response {
  return new Response(
    `<!doctype html><html lang="es"><meta charset="utf-8"><title>Tertulia</title><h1>${sentence}</h1>${advice && `<p>${advice}</p>`}<p><a href="/conversation/chat">Volver a las conversaciones</a></p></html>`,
    { status, headers: { "Content-Type": "text/html; charset=utf-8" } },
  );
}

async function ready(services: Opened["services"], { apiBaseUrl }: Opened["config"]): Promise<Response> {
  if (!services) return new Response("ok", { status: (await fetch(`${apiBaseUrl}/auth/options`)).ok ? 200 : 503 });
  await services.db.selectFrom("models").select("id").limit(1).execute();
  return new Response("ok");
}

/** A page that is still being written (X-Live) is flushed at each piece, with a small window: there may be a thousand of them. */
function compression(response: Response) {
  const live = response.headers.has("X-Live");
  response.headers.delete("X-Live");
  return {
    encodings: ["br", "gzip"] as ("br" | "gzip")[],
    brotli: {
      flush: live ? constants.BROTLI_OPERATION_FLUSH : constants.BROTLI_OPERATION_PROCESS,
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 5,
        [constants.BROTLI_PARAM_LGWIN]: live ? 16 : 20,
      },
    },
    zlib: { flush: live ? constants.Z_SYNC_FLUSH : constants.Z_NO_FLUSH },
  };
}
